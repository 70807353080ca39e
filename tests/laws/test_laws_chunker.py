"""The laws of respooling, one property test each or a few, numbered as in docs/laws.md.

The chains, the model of how a document grows, and the judge of what is written are in tests/support/chains.py.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests.support import chains, strategies
from tests.support.chains import Chain, Figures, Judge, can_become, differences, explains, load, model_of
from tests.support.observe import observe
from unspool import MISSING, Options, Path, Reason, SnapshotChunker, SnapshotError, StateError, ValueParser

if TYPE_CHECKING:
    from tests.support.strategies import Tape

EXAMPLES = min(3 * settings().max_examples, max(settings().max_examples, 300))
many = settings(max_examples=EXAMPLES)

CONTRADICTIONS = set(Reason) - {Reason.NOT_JSON, Reason.LIMIT, Reason.OUT_OF_ORDER}


def chain_of(*texts: str) -> Chain:
    """A chain of our own, as texts."""
    return Chain([load(text) for text in texts], list(texts))


def respool(snapshots: list[Any], options: dict[str, Any]) -> list[str]:
    """What is written for each snapshot, and by the flush."""
    chunker = SnapshotChunker(**options)
    return [*[chunker.process(snapshot) for snapshot in snapshots], chunker.flush()]


def again(chunker: SnapshotChunker) -> SnapshotChunker:
    """The same chunker, as if in another process."""
    return SnapshotChunker.load(json.loads(json.dumps(chunker.dump())))


def attempt(chunker: SnapshotChunker, snapshot: Any) -> str | SnapshotError:
    """What is written for a snapshot, or why it is refused."""
    try:
        return chunker.process(snapshot)
    except SnapshotError as error:
        return error


def told(error: SnapshotError) -> tuple[chains.Steps, Reason, int]:
    """What an error says."""
    return error.path.steps, error.reason, error.step


def follow(chain: Chain) -> Figures:
    """One chain under law 14: each fragment is judged, and so is the flush."""
    judge, chunker = Judge(**chain.options), SnapshotChunker(**chain.options)
    for snapshot, value in zip(chain.inputs, chain.values, strict=True):
        judge.take(chunker.process(snapshot), value)
    judge.finish(chunker.flush(), chain.values[-1])
    assert chunker.conflicts == ()
    return judge.figures


NESTED_WAITING = chain_of(
    '{"a":{"p":"1","q":{"r":""}},"b":[]}',
    '{"b":[],"a":{"q":{"r":"","s":""},"p":"1"}}',
    '{"b":[],"a":{"q":{"s":"x","r":""},"p":"1"}}',
)
ATOMS_AROUND = chain_of(
    '{"a":0,"s":""}', '{"s":"x","a":0,"b":1,"t":"","u":[]}', '{"u":[null],"t":"","s":"x","b":1,"a":0,"c":true}'
)
STRINGS_IN_ARRAYS = chain_of('["a"]', '["ab","c",""]', '["ab","c","d",[],["e"]]', '["ab","c","d",[],["e",{"f":""}]]')


# ---- law 14: inverse -------------------------------------------------------------------------------------


@many
@given(chains.chains())
@example(NESTED_WAITING)
@example(ATOMS_AROUND)
@example(STRINGS_IN_ARRAYS)
def test_law_14_the_output_is_the_last_snapshot(chain: Chain) -> None:
    """Viable at every character, never more than is shown, at most one distinct snapshot late, and right at the end."""
    follow(chain)


def half_filled(*texts: str) -> Chain:
    """A chain of a half-filled model of our own."""
    return Chain([load(text) for text in texts], list(texts), options={"empty": "wait"})


@many
@given(chains.all_chains())
@example(half_filled('{"title":"","days":[]}', '{"title":"Tr","days":[]}', '{"title":"Trip","days":[{"n":1}]}'))
@example(half_filled('{"a":null,"n":0,"b":false}', '{"a":[1,0],"n":0,"b":false}', '{"a":[1,12],"n":3,"b":true}'))
@example(half_filled('{"n":1}', '{"n":12}', '{"n":12,"s":""}', '{"n":12,"s":"x"}'))
def test_law_14_with_empty_values_that_wait(chain: Chain) -> None:
    """The same for half-filled models, with ``empty="wait"``. What is empty, or a number, may be written later."""
    follow(chain)


@many
@given(chains.all_chains())
def test_law_14_at_every_step_a_flush_would_be_right(chain: Chain) -> None:
    """Whichever snapshot is the last one: what was written and a flush say what it says."""
    chunker, text = SnapshotChunker(**chain.options), ""
    for snapshot, value in zip(chain.inputs, chain.values, strict=True):
        text += chunker.process(snapshot)
        assert load(text + again(chunker).flush()) == value


@many
@given(chains.all_chains(), st.integers(1, 3))
def test_law_14_with_patience(chain: Chain, patience: int) -> None:
    """With patience the output comes later, and is as right."""
    judge = Judge(most_delay=None, **chain.options)
    chunker = SnapshotChunker(patience=patience, **chain.options)
    for snapshot, value in zip(chain.inputs, chain.values, strict=True):
        judge.take(chunker.process(snapshot), value)
    judge.finish(chunker.flush(), chain.values[-1])


@many
@given(chains.all_chains(), st.sampled_from(["raise", "keep"]))
def test_law_14_nothing_to_keep(chain: Chain, on_conflict: Any) -> None:
    """Where nothing contradicts, what is done about contradictions makes no difference."""
    options = {"on_conflict": on_conflict, **chain.options}
    assert respool(chain.inputs, options) == respool(chain.inputs, chain.options)
    chunker = SnapshotChunker(**options)
    for snapshot in chain.inputs:
        chunker.process(snapshot)
    assert chunker.conflicts == ()


@many
@given(chains.chains(), st.integers(0, 2**32))
def test_law_14_the_form_of_a_snapshot_does_not_matter(chain: Chain, seed: int) -> None:
    """A text in any spelling, bytes and a parsed value say the same, as long as numbers are spelled the same."""
    dice = chains.RandomDice(random.Random(seed))
    has_odd_numbers = any(repr(number) in repr(chain.values[-1]) for number in map(chains.Number, chains.ODD_NUMBERS))
    forms: list[chains.Form] = ["text", "bytes"] if has_odd_numbers else ["text", "bytes", "parsed", "mixed"]
    outputs = [respool([chains.put(value, form, dice) for value in chain.values], {}) for form in forms]
    assert outputs == [respool(chain.inputs, {})] * len(forms)


@many
@given(chains.all_chains(), st.data())
def test_law_14_dumped_and_loaded_at_any_step(chain: Chain, data: st.DataObject) -> None:
    """A chunker that is dumped and loaded on the way writes what it would have written."""
    moves = data.draw(st.sets(st.integers(0, len(chain.inputs))))
    chunker = SnapshotChunker(**chain.options)
    outputs = []
    for step, snapshot in enumerate(chain.inputs):
        chunker = again(chunker) if step in moves else chunker
        outputs.append(chunker.process(snapshot))
    chunker = again(chunker) if len(chain.inputs) in moves else chunker
    outputs.append(chunker.flush())
    assert outputs == respool(chain.inputs, chain.options)
    assert again(chunker).is_complete
    with pytest.raises(StateError):
        again(chunker).process("1")


@many
@given(chains.all_chains(), chains.contradictions(), st.booleans(), st.sampled_from(["raise", "keep"]))
def test_law_14_a_reset_leaves_nothing_behind(chain: Chain, before: Chain, flushes: bool, on_conflict: Any) -> None:
    """After a reset the chunker is as new, whatever it went through."""
    options = {"on_conflict": on_conflict, **chain.options}
    chunker = SnapshotChunker(**options)
    for snapshot in before.inputs:
        attempt(chunker, snapshot)
    if flushes:
        chunker.flush()
    chunker.reset()
    assert chunker.dump() == SnapshotChunker(**options).dump()
    assert (chunker.conflicts, chunker.is_complete) == ((), False)
    assert [*[chunker.process(snapshot) for snapshot in chain.inputs], chunker.flush()] == respool(
        chain.inputs, chain.options
    )


SHARDS, CHAINS_IN_A_SHARD = 8, 12_500


@pytest.mark.long
@pytest.mark.parametrize("shard", range(SHARDS))
def test_law_14_a_hundred_thousand_chains(shard: int) -> None:
    """Of 100,000 random chains none is wrong, none meets a conflict, none is more than one snapshot late."""
    total = Figures()
    for number in range(CHAINS_IN_A_SHARD):
        seed = shard * CHAINS_IN_A_SHARD + number
        chain = chains.make_chain(chains.RandomDice(random.Random(seed)))
        try:
            total.add(follow(chain))
        except (AssertionError, SnapshotError) as error:
            raise AssertionError(f"chain {seed}: {chain}") from error
    print(f"shard {shard}: {total}")
    assert total.chains == CHAINS_IN_A_SHARD
    assert total.steps > 5 * CHAINS_IN_A_SHARD
    assert total.delay == 1


@pytest.mark.long
@pytest.mark.parametrize("shard", range(SHARDS))
def test_laws_14_to_17_a_hundred_thousand_half_filled_models(shard: int) -> None:
    """Of 100,000 half-filled models, with ``empty="wait"``, each follows the laws 14 to 17.

    For law 16 each of them comes with a chain that contradicts itself.
    """
    total, figures = Figures(), {"contradictions": 0}
    for number in range(CHAINS_IN_A_SHARD):
        seed = shard * CHAINS_IN_A_SHARD + number
        dice = chains.RandomDice(random.Random(seed))
        chain = chains.make_half_filled(dice)
        contradiction = chains.make_contradiction(dice)
        contradiction.options = chain.options
        try:
            total.add(follow(chain))
            check_repeats(chain, dice)
            check_order(chain, dice)
            check_raised_or_right(contradiction, seed % 3)
            check_kept_or_right(contradiction, seed % 3)
            check_round_trip(chain)
        except (AssertionError, SnapshotError) as error:
            raise AssertionError(f"chain {seed}: {chain}, {contradiction}") from error
        figures["contradictions"] += len(contradiction.mutations) > 0
    print(f"shard {shard}: {total}, {figures}")
    assert total.chains == CHAINS_IN_A_SHARD
    assert total.steps > 5 * CHAINS_IN_A_SHARD
    assert total.delay == 1


def test_the_half_filled_models_reach_the_hard_cases() -> None:
    """Among some hundred chains there is each sort of default, and most need the option."""
    seen: set[str] = set()
    refused = 0
    for seed in range(600):
        chain = chains.make_half_filled(chains.RandomDice(random.Random(seed)))
        first, last = chain.values[0], chain.values[-1]
        chunker = SnapshotChunker()
        refused += any(isinstance(attempt(chunker, snapshot), SnapshotError) for snapshot in chain.inputs)
        if chains.kind_of(first) == chains.kind_of(last):
            for path in chains.first_seen([first]):
                one, other = at_path(first, path), at_path(last, path)
                if one != other and chains.is_empty(one):
                    seen.add(f"{chains.kind_of(one)} to {chains.kind_of(other)}")
                if isinstance(one, chains.Number) and isinstance(other, chains.Number) and not chains.is_empty(one):
                    seen.add("half a number" if one != other else "a number")
    assert refused > 150
    assert seen >= {
        *("null to string", "null to object", "null to array", "null to number", "null to boolean", "string to string"),
        *("number to number", "boolean to boolean", "array to array", "object to object", "half a number"),
    }


def at_path(value: Any, path: chains.Steps) -> Any:
    """The value at a path, or None."""
    for step in path:
        if step not in chains.steps_of_value(value):
            return None
        value = value[step]
    return value


def test_the_chains_reach_the_hard_cases() -> None:
    """Among a few thousand chains there is each sort that the laws are about."""
    seen: set[str] = set()
    for seed in range(3000):
        chain = chains.make_chain(chains.RandomDice(random.Random(seed)))
        last = chain.values[-1]
        seen.add("root " + chains.kind_of(last))
        seen.update(type(snapshot).__name__ for snapshot in chain.inputs)
        seen.update(key for key in ["", ".", "a.b", "[0]", "0"] if isinstance(last, dict) and key in last)
        for earlier, later in zip(chain.values, chain.values[1:], strict=False):
            seen.add("repeat" if earlier == later else "growth")
            if earlier == later and isinstance(later, dict) and list(earlier) != list(later):
                seen.add("shuffled repeat")
            if isinstance(later, dict) and isinstance(earlier, dict):
                news = [later[key] for key in later if key not in earlier]
                growable = [value for value in news if isinstance(value, (str, list, dict))]
                seen.update(["two at once"] if len(growable) > 1 else [])
                seen.update(["atom and growable"] if 0 < len(growable) < len(news) else [])
                is_last_atom = growable and not isinstance(news[-1], (str, list, dict))
                seen.update(["atom last"] if is_last_atom else [])
            if isinstance(later, list) and any(isinstance(item, str) for item in later):
                seen.add("string in array")
            if isinstance(later, str) and "\ud800" <= later[-1:] <= "\udbff":
                seen.add("half a pair")
        seen.update([f"{len(chain.values) // 20 * 20} steps"])
    assert seen >= {
        *(f"root {kind}" for kind in ("object", "array", "string", "number", "boolean", "null")),
        *("str", "bytes", "dict", "list", "tuple", "", ".", "a.b", "[0]", "0", "repeat", "growth", "shuffled repeat"),
        *("two at once", "atom and growable", "atom last", "string in array", "half a pair", "0 steps", "40 steps"),
    }


# ---- law 15: repeats and the order of keys ------------------------------------------------------------------


@many
@given(chains.all_chains(), st.data())
def test_law_15_repeats_change_nothing(chain: Chain, data: st.DataObject) -> None:
    """A snapshot that says what the one before said writes nothing and changes nothing that is written later."""
    check_repeats(chain, data.draw(chains.tapes()))


def check_repeats(chain: Chain, tape: chains.Dice) -> None:
    chunker = SnapshotChunker(**chain.options)
    outputs = []
    for snapshot, value in zip(chain.inputs, chain.values, strict=True):
        outputs.append(chunker.process(snapshot))
        for _ in range(tape.pick(4)):
            assert chunker.process(chains.put(chains.shuffled(value, tape), "text", tape)) == ""
    assert [*outputs, chunker.flush()] == respool(chain.inputs, chain.options)


@many
@given(chains.all_chains(), chains.tapes())
def test_law_15_the_order_of_keys_does_not_matter(chain: Chain, tape: Tape) -> None:
    """Shuffled, at each step the same is written, but for the order of keys first seen together."""
    check_order(chain, tape)


def check_order(chain: Chain, tape: chains.Dice) -> None:
    seen = chains.first_seen(chain.values)
    other = [chains.shuffled(value, tape) for value in chain.values]
    texts = ["", ""]
    others_pieces = respool([chains.put(value, "text", tape) for value in other], chain.options)
    for pieces in zip(respool(chain.inputs, chain.options), others_pieces, strict=True):
        assert sorted(pieces[0]) == sorted(pieces[1])
        texts = [text + piece for text, piece in zip(texts, pieces, strict=True)]
        written, others = map(chains.read_written, texts)
        if written is None or others is None:
            assert written is others
            continue
        assert written.value == others.value
        assert key_ages(written.value, seen) == key_ages(others.value, seen)


def key_ages(value: Any, seen: dict[chains.Steps, int]) -> dict[chains.Steps, list[int]]:
    """For each object, when its keys were first seen, in the order in which they are written."""
    ages: dict[chains.Steps, list[int]] = {}
    for path in chains.first_seen([value]):
        if path and isinstance(path[-1], str):
            ages.setdefault(path[:-1], []).append(seen[path])
    return ages


@many
@given(chains.all_chains(), chains.tapes())
def test_law_15_only_keys_first_seen_together_have_an_order(chain: Chain, tape: Tape) -> None:
    """As long as keys first seen together keep their order among themselves, the output is the same to the letter."""
    seen = chains.first_seen(chain.values)
    plain = [in_one_order(value, chain.values[-1]) for value in chain.values]
    other = [chains.shuffled_groups(value, tape, seen) for value in plain]
    texts = [[chains.put(value, "text", tape) for value in values] for values in (plain, other)]
    assert respool(texts[0], chain.options) == respool(texts[1], chain.options)


def in_one_order(value: Any, last: Any) -> Any:
    """The keys of each object in the order of the last snapshot. The default of a value may have another kind."""
    if isinstance(value, list) and isinstance(last, list):
        return [in_one_order(item, last[at]) for at, item in enumerate(value)]
    if isinstance(value, dict) and isinstance(last, dict):
        return {key: in_one_order(value[key], last[key]) for key in last if key in value}
    return value


# ---- law 16: no silence ----------------------------------------------------------------------------------------


@settings(many, max_examples=2 * EXAMPLES)
@given(chains.contradictions(), st.integers(0, 2))
def test_law_16_raised_and_nothing_changed_or_right(chain: Chain, patience: int) -> None:
    """A snapshot is refused exactly when what is written cannot become it, and nothing changed; otherwise all is right.

    Right means that with a flush, now, the text says what the snapshot says.
    """
    check_raised_or_right(chain, patience)


def check_raised_or_right(chain: Chain, patience: int) -> None:
    judge, chunker = Judge(), SnapshotChunker(patience=patience, **chain.options)
    accepted: list[Any] = []
    for snapshot, value in zip(chain.inputs, chain.values, strict=True):
        before = chunker.dump()
        fits = can_become(judge.written, value)
        result = attempt(chunker, snapshot)
        if isinstance(result, SnapshotError):
            assert not fits, "what is written can still become this snapshot"
            assert result.reason in CONTRADICTIONS
            assert result.step == len(accepted) + 1
            assert judge.written is not None
            assert explains(judge.written, value, result.path.steps, result.reason)
            assert chunker.dump() == before
        else:
            assert fits, "a snapshot that contradicts what is written was taken without a word"
            accepted.append(value)
            judge.write(result)
        assert load(judge.text + again(chunker).flush()) == accepted[-1]
    judge.finish(chunker.flush(), accepted[-1])
    assert chunker.conflicts == ()


@settings(many, max_examples=2 * EXAMPLES)
@given(chains.contradictions(), st.integers(0, 2))
def test_law_16_kept_and_listed_or_right(chain: Chain, patience: int) -> None:
    """With keep no contradiction raises; whatever the text would not say is under the path of a listed conflict."""
    check_kept_or_right(chain, patience)


def check_kept_or_right(chain: Chain, patience: int) -> None:
    judge, chunker = Judge(), SnapshotChunker(on_conflict="keep", patience=patience, **chain.options)
    listed: list[tuple[chains.Steps, Reason, int]] = []
    for step, (snapshot, value) in enumerate(zip(chain.inputs, chain.values, strict=True), 1):
        fits, written = can_become(judge.written, value), judge.written
        judge.write(chunker.process(snapshot))
        conflicts = [told(conflict) for conflict in chunker.conflicts]
        assert conflicts[: len(listed)] == listed, "what is listed stays listed"
        for place, reason, when in conflicts[len(listed) :]:
            assert not fits
            assert written is not None
            assert when == step
            assert explains(written, value, place, reason)
        listed = conflicts
        lost = differences(load(judge.text + again(chunker).flush()), value)
        assert not (lost and fits), "the text could have said what the snapshot says"
        for path in lost:
            assert any(is_along(path, place) for place, _, _ in listed), f"{path} was lost in silence"
    last = chain.values[-1]
    rest = chunker.flush()
    judge.finish(rest, load(judge.text + rest))
    assert load(judge.text) == last or chunker.conflicts


def is_along(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    """One of the paths leads to or through the other."""
    shorter = min(len(left), len(right))
    return left[:shorter] == right[:shorter]


@many
@given(chains.contradictions())
def test_law_16_keep_lists_what_raise_raises(chain: Chain) -> None:
    """Up to the first contradiction both write the same, and what one raises is among what the other lists there."""
    strict, lenient = SnapshotChunker(**chain.options), SnapshotChunker(on_conflict="keep", **chain.options)
    for snapshot in chain.inputs:
        result = attempt(strict, snapshot)
        if isinstance(result, SnapshotError):
            lenient.process(snapshot)
            assert told(result) in map(told, lenient.conflicts)
            assert isinstance(result.path, Path)
            return
        assert lenient.process(snapshot) == result
        assert lenient.conflicts == ()
    assert strict.flush() == lenient.flush()


@many
@given(chains.contradictions(), st.data(), st.sampled_from(["raise", "keep"]), st.integers(0, 2))
def test_law_16_dumped_and_loaded_among_contradictions(
    chain: Chain, data: st.DataObject, on_conflict: Any, patience: int
) -> None:
    """Dumped and loaded anywhere, a chunker writes, refuses and lists the same."""
    moves = data.draw(st.sets(st.integers(0, len(chain.inputs))))
    options = {"on_conflict": on_conflict, "patience": patience, **chain.options}
    stays, moving = SnapshotChunker(**options), SnapshotChunker(**options)
    for step, snapshot in enumerate(chain.inputs):
        moving = again(moving) if step in moves else moving
        assert outcome(moving, snapshot) == outcome(stays, snapshot)
        assert moving.dump() == stays.dump()
    assert again(moving).flush() == stays.flush()


def outcome(chunker: SnapshotChunker, snapshot: Any) -> Any:
    """What comes of one snapshot: text or an error, and the list of conflicts."""
    result = attempt(chunker, snapshot)
    return told(result) if isinstance(result, SnapshotError) else result, [told(error) for error in chunker.conflicts]


JUNK: list[Any] = [
    None,
    True,
    -1,
    0,
    1,
    2,
    10**30,
    1.5,
    "",
    "x",
    "\ud83d",
    "1e999",
    [],
    [1],
    [[]],
    {},
    {"a": 1},
    ["x", {}],
]


@many
@given(
    st.data(), chains.contradictions() | chains.half_filled(), st.sampled_from(JUNK), st.sampled_from(["raise", "keep"])
)
def test_law_16_a_mutated_dump_is_a_state_error(data: st.DataObject, chain: Chain, junk: Any, on_conflict: Any) -> None:
    """Whatever is changed in a dump: a `StateError`, or a chunker that goes on without any other exception."""
    place = data.draw(st.integers(0, len(chain.inputs)))
    patience = data.draw(st.integers(0, 1))
    chunker = SnapshotChunker(on_conflict=on_conflict, patience=patience, **chain.options)
    for snapshot in chain.inputs[:place]:
        outcome(chunker, snapshot)
    if data.draw(st.integers(0, 5)) == 0:
        chunker.flush()
    dumped: Any = json.loads(json.dumps(chunker.dump()))
    target, key = dumped, data.draw(st.sampled_from(sorted(dumped)))
    while isinstance(target[key], (dict, list)) and target[key] and data.draw(st.integers(0, 3)):
        target = target[key]
        keys = sorted(target) if isinstance(target, dict) else list(range(len(target)))
        key = data.draw(st.sampled_from(keys))
    if data.draw(st.integers(0, 5)) == 0:
        del target[key]
    else:
        target[key] = junk
    try:
        loaded = SnapshotChunker.load(dumped)
    except StateError:
        return
    if loaded.is_complete:
        assert loaded.flush() == ""
        loaded.reset()
    for snapshot in chain.inputs[place:]:
        outcome(loaded, snapshot)
    loaded.flush()
    assert SnapshotChunker.load(json.loads(json.dumps(loaded.dump()))).is_complete


# ---- law 17: round trip -----------------------------------------------------------------------------------------


@many
@given(strategies.cut(strategies.documents()), st.booleans(), st.sampled_from(["write", "wait"]))
def test_law_17_the_snapshots_of_a_parse_give_back_its_value(
    cut: tuple[str, list[str]], as_text: bool, empty: Any
) -> None:
    """The values of a parse, at every cutting, are a chain of snapshots: what is written of them is the value again."""
    text, fragments = cut
    assume(not observe([text], duplicate_keys="error").errors)
    parser, chunker, judge = ValueParser(), SnapshotChunker(empty=empty), Judge(empty=empty)
    for fragment in fragments:
        parser.feed(fragment)
        value = parser.value
        if value is not MISSING:
            snapshot = json.dumps(value) if as_text or isinstance(value, str) else value
            judge.take(chunker.process(snapshot), model_of(value))
    value = parser.close()
    judge.take(chunker.process(json.dumps(value)), model_of(value))
    judge.finish(chunker.flush(), model_of(value))


@many
@given(chains.all_chains())
def test_law_17_what_is_written_is_a_chain_again(chain: Chain) -> None:
    """The values of the written fragments, read again, are snapshots of which an equal text is written."""
    check_round_trip(chain)


def check_round_trip(chain: Chain) -> None:
    written = respool(chain.inputs, chain.options)
    parser = ValueParser(Options(surrogates="keep"))
    chunker, judge = SnapshotChunker(**chain.options), Judge(**chain.options)
    for fragment in written:
        parser.feed(fragment)
        if parser.value is not MISSING:
            judge.take(chunker.process(json.dumps(parser.value)), model_of(parser.value))
    value = json.loads("".join(written))
    judge.take(chunker.process(json.dumps(value)), model_of(value))
    judge.finish(chunker.flush(), model_of(value))
