"""Texts written for this project, each for a reason: valid ones, broken ones, open ones, bytes, documents.

A caret marks a place: in a broken text it stands before the first character that nothing can repair, in
an open one between the prefix and a continuation that completes it, which proves that it is open. The
caret itself is no part of the text. The lists that tests use are made from the marked texts below.
"""

from __future__ import annotations

import json
from typing import Any

from unspool._errors import Code

from .oracle import MISSING, Steps

# reason -> texts that are JSON
_VALID: dict[str, list[str]] = {
    "empty containers": ["{}", "[]", "[[]]", "[{}]", '{"a":{}}', '{"a":[]}', "[[],[]]", "[{},[]]"],
    "literals at the root and inside": ["true", "false", "null", "[true,false,null]", '{"t":true,"f":false,"n":null}'],
    "a literal ends by its last letter": ["[true]", "[null,true]", '{"a":false}', "true ", "null\n"],
    "a root number ends with the text": ["0", "12", "-7", "1.5", "1e2"],
    "a root number ends with whitespace": ["12 ", "12\n", "12\t", "12\r", "0 ", "1.5 ", "-1e2 "],
    "integers": ["[0]", "[-0]", "[10]", "[-10]", "[1234567890]", "[9007199254740993]", "[-9223372036854775809]"],
    "integers beyond every machine word stay exact": ["[340282366920938463463374607431768211457]", "1" + "0" * 400],
    "fractions": ["[0.0]", "[-0.0]", "[0.5]", "[-0.5]", "[10.25]", "[1.000]", "[0.1000000000000000055511151231257827]"],
    "exponents": ["[1e5]", "[1E5]", "[1e+5]", "[1E-5]", "[0e0]", "[0E+0]", "[-0e-0]", "[1.5e005]", "[2e00]"],
    "a number that no float holds but nearly": ["[1.7976931348623157e308]", "[1e308]", "[4.9e-324]", "[0.1e309]"],
    "a number too small becomes zero": ["[1e-400]", "[-1e-999]", "[0e999]", "[-0.000e99999]"],
    "many digits are repaired by the exponent": ["[" + "9" * 400 + "e-300]", "[" + "9" * 320 + ".5E-20]"],
    "a number before each thing that ends it": ["[1,2]", "[1 ,2]", "[1\n]", '{"a":1}', '{"a":1,"b":2}', '{"a":1 }'],
    "strings": ['""', '"a"', '" "', '"abc"', '["",""]', '["a","b"]', '"[]{}:,"', '"true"', '"1"', '"it\'s"'],
    "each short escape": [r'"\""', r'"\\"', r'"\/"', r'"\b"', r'"\f"', r'"\n"', r'"\r"', r'"\t"'],
    "escapes among text": [r'"a\nb"', r'"\\\\"', r'"\\\""', r'"\"\""', r'"end\\"', r'["\\","\\"]', r'"\\u0041"'],
    "escapes by number": [r'"\u0041"', r'"\u0000"', r'"\u001f"', r'"\u00e9"', r'"\u20AC"', r'"\uABCD"', r'"\uabCd"'],
    "an escaped quote does not end a string": [r'"\u0022"', r'"a\"b"', r'{"\"":"\""}', r'["\u005c"]'],
    "pairs of surrogate escapes": [r'"\ud83d\ude00"', r'"\uD83D\uDE00"', r'"a\ud83d\ude00b"', r'"\ud800\udc00"'],
    "the last pair, and pairs in a row": [r'"\udbff\udfff"', r'"\ud83d\ude00\ud83d\ude01"', r'{"\ud83d\ude00":1}'],
    "just outside of the surrogates": [r'"\ud7ff"', r'"\ue000"', r'"\uffff"', r'"\ufffd"', r'"\ufdd0"'],
    "raw characters": ['"é"', '"€"', '"😀"', '"日本語"', '"\x7f"', '"\x80"', '"\u2028\u2029"', '"\U0010ffff"'],
    "raw and escaped side by side": ['"é\\u00e9é"', '"😀\\ud83d\\ude00"', '["e\\u0301","é"]', '"\\u200d👩\u200d🚀"'],
    "whitespace everywhere": [" {} ", "\t[\t]\t", '{ "a" : 1 }', "[ 1 , 2 ]", '\r\n{\r\n"a"\r\n:\r\n1\r\n}\r\n'],
    "the four kinds of whitespace and their mixtures": [" \t\n\r1", "[\n\n]", "[\r\r]", " \n\r\n\t true", "\n\n\n{}"],
    "nesting": ["[[[[]]]]", '{"a":{"b":{"c":null}}}', '[{"a":[{"b":[]}]}]', '[[1],[2,[3]],{"k":[4]}]'],
    "as deep as the limit allows": ["[" * 128 + "]" * 128, '{"":' * 128 + "0" + "}" * 128],
    "odd keys": ['{"":0}', '{".":0}', '{"a.b":0}', '{"[0]":0}', '{"0":0}', '{" ":0}', '{"$":0}', '{"a\\nb":0}'],
    "odd keys together": ['{"":{"":{"":1}}}', '{"0":[0],"[0]":{"0":1}}', '{"a":{"b":1},"a.b":2}', '{"~":1,"/":2}'],
    "names that are special elsewhere": ['{"__proto__":1}', '{"true":1,"null":2}', '{"__class__":"x"}'],
    "duplicate keys: the last value, the first place": ['{"a":1,"a":2}', '{"a":1,"b":2,"a":3}', '{"a":[1],"a":{}}'],
    "duplicate keys spelled differently": ['{"a":1,"\\u0061":2}', '{"é":1,"\\u00e9":2}', '{"":1,"":2,"":3}'],
}

# code -> reason -> texts with the caret before the character that cannot be repaired
_BROKEN: dict[Code, dict[str, list[str]]] = {
    Code.UNEXPECTED_CHARACTER: {
        "no value starts so": ["^x", "^+1", "^.5", "^]", "^}", "^,", "^:", "^'a'", "^/", "^#"],
        "no value starts so, inside": ["[^x]", '{"a":^x}', '{"a": ^+1}', "[1,^.5]", "[^'a']"],
        "names of other languages": ["^NaN", "^Infinity", "^True", "^None", "^undefined", "[^NaN]"],
        "comments": ["^// a\n1", "[1, ^/* a */ 2]", "{^/**/}", "[1 ^# one\n]"],
        "commas too many": ["[^,]", "[1,^]", "[1,^,2]", "[^,1]", '{"a":1,^}', "{^,}", '{"a":1,^,}'],
        "commas missing": ["[1 ^2]", '["a"^"b"]', "[true ^false]", "[[]^[]]", '{"a":1 ^"b":2}', "[1\n^2]"],
        "a comma missing after a string or a container": ['{"a":"b"^"c"}', '{"a":{}^"c"}', "[{}^{}]"],
        "colons": ['{"a"^}', '{"a" ^1}', '{"a"^,"b"}', '{"a":^:1}', '{"a"^=1}', "[1 ^:2]", '["a"^:1]'],
        "values missing": ['{"a":^}', '{"a":^,"b":1}', '{"a": ^]', "{^:1}", '{"a"^"b"}'],
        "keys are strings": ["{^a:1}", "{^1:1}", "{^null:1}", "{^[]:1}", "{^{}:1}", "{^'a':1}", '{"a":1,^b:2}'],
        "the wrong bracket": ["[^}", "{^]", "[1^}", '{"a":1^]', "[[1]^}", '{"a":[^}', '{"a":{}^]', '[{"a":1^]'],
        "an open bracket in the wrong place": ["{^{", "{^[", "[1 ^[", "[1 ^{", '{"a"^{', '{"a"^[', '{"a":1 ^{'],
        "no whitespace of JSON": ["^\x00", "^\x0b1", "^\x0c1", "^\xa01", "[^\u2003]", "^\ufeff{}"],
        "no whitespace of JSON, inside": ["[1 ^\u2028]", "[^\x00]"],
        "characters that look alike": ["[^\uff11]", "^\u201ca\u201d", "[1 ^\uff0c2]", "[^\u22121]"],
        "an escape outside of a string": [r"^\n", r"[^\u0031]", r'{^\"a":1}'],
    },
    Code.TRAILING_TEXT: {
        "a second value": ["1 ^2", "{}^{}", "[]^[]", '"a"^"b"', "true ^true", "null ^null"],
        "a second value, otherwise": ['{"a":1}\n^{"a":2}', "0 ^1"],
        "closers and separators too many": ["[]^]", "{}^}", "1^,", "1^]", '"a"^:', "{}^,", "[1]^,2", "{} ^}", "true^,"],
        "other text": ["12 ^x", "{}^x", "[] ^// end", "null ^x", '"a"^\'', "1 ^/", "{}^\x00", "1 ^\ufeff"],
        "other text after space": ["{}\n\n ^x", "-0 ^0", "1.5\t^.5"],
    },
    Code.INVALID_NUMBER: {
        "a minus alone": ["[-^]", "-^x", "[-^,1]", "-^-1", "-^+1", "-^.5", "-^ 1", '{"a":-^}', "-^Infinity", "-^e5"],
        "a point without digits after it": ["1.^x", "[1.^]", "1.^ ", "1.^e5", "1.^.5", "[0.^,1]", "-0.^-1"],
        "a point before what ends a number": ["1.^+5", '{"a":1.^}'],
        "an exponent without digits": ["1e^x", "[1e^]", "1E^ ", "1e+^x", "[1e-^]", "1e^.5", "1e+^-5"],
        "an exponent begun twice or cut short": ["1.5e^,", "0e^e", "1e-^ "],
        "a number that goes on": ["[12^x]", "[0^1]", "[-0^1]", "[1^-2]", "[1.5^.5]", "[1e5^.5]", "[1e5^e5]"],
        "a number that goes on, otherwise": ["[1^a]", "[0^x1F]", "[1^_000]", '{"a":1^"', "[1^+1]", "[0^00]", "[1^:2]"],
        "a number that goes on at the root": ["0^1", "0^0", "12^x", "1^/", "1^\ufeff", "-0^0", "1.5^.5", '1^"', "1^{}"],
        "a number before a bracket that opens": ["[1^[", "[1^{", '{"a":1^{', "1^[]"],
        "a number before what looks like its end": ["[1^\u2028]", "[1^\u0660]", "[1^\uff0c2]", "[1^\x0c]", "1^\x00"],
        "a date": ['{"due":2024^-01-15}', "2024^-01-15", "[15^:30]"],
    },
    Code.INVALID_LITERAL: {
        "a literal cut short": ["t^]", "[tru^]", "nul^ ", "fals^,", '{"a":n^}', "t^ rue", "[f^,1]", "tru^\n"],
        "a literal misspelled": ["t^Rue", "tru^x", "tr^eu", "n^an", "nu^kk", "f^lase", "nul^1", "[fal^es]"],
        "words that begin as a literal does": ["n^one", "f^\u0430lse"],
        "a literal that goes on": [
            "[true^x]",
            "[null^0]",
            "[true^true]",
            '{"a":false^"',
            "[null^[",
            "[true^e]",
            "[true^:",
        ],
        "a literal that goes on at the root": ["true^ish", "null^x", "true^true", "false^0", 'null^"', "true^{}"],
    },
    Code.INVALID_ESCAPE: {
        "letters that mean nothing": [r'"\^q"', r'"\^a"', r'"\^x41"', r'"\^0"', r'"\^U0041"', r'"\^N"'],
        "characters that need no escape": [r'"a\^ "', '"\\^\'"'],
        "a backslash before a raw character": ['"\\^\n"', '"\\^\x00"', '"\\^é"', '"\\^😀"', '{"\\^a":1}', '["\\^\t"]'],
        "digits that are not hexadecimal": [r'"\u^g"', r'"\u1^g"', r'"\u12^g"', r'"\u123^g"', r'"\u^"'],
        "too few digits": [r'"\u12^"', r'"\u123^ "'],
        "signs and spaces among the digits": [r'"\u^+041"', r'"\u^-041"', r'"\u0^x41"', r'"\u00^ 41"'],
        "digits of other scripts and languages": ['"\\u^\uff10"', r'"\u^{41}"'],
        "after a high half": [r'"\ud83d\^q"', r'"\ud83d\u^g"', r'"\ud83d\ude^g"', r'"\ud83d\ude0^"'],
        "after a high half, with text or in a key": [r'"a\ud83d\u12^ "', r'{"\ud83d\^q":1}'],
    },
    Code.CONTROL_CHARACTER: {
        "raw control characters": ['"^\x00"', '"^\x01"', '"a^\n"', '"^\t"', '"^\r"', '"^\x1f"', '"a^\r\n"'],
        "raw control characters after an escape or a pair": ['"\\\\^\n"', '"😀^\x08"'],
        "in keys and inside": ['{"^\n":1}', '{"a^\t":1}', '["a","^\x0c"]', '{"a":"b^\n'],
        "after an escape by number": ['"\\ud83d^\n"', '"\\u0041^\x00'],
    },
    Code.NUMBER_OVERFLOW: {
        "the exponent's digit that goes over": ["[1e30^9]", "1e40^0", "[-1e+30^9]", "[1.8E30^8]"],
        "fractions and zeros before the digit that goes over": ["[0.1e31^0]", "[1e0030^9]", "[17976931348623159e29^3]"],
        "so many digits that any exponent goes over": ["[1" + "0" * 400 + "e^0]", "[" + "9" * 309 + "E+^1]"],
        "known only when the number ends": ["[" + "9" * 400 + ".0^]", "-" + "9" * 400 + ".0^ "],
        "known only when it ends, inside": ["[1" + "0" * 400 + "e-1^,", '{"a":' + "9" * 400 + ".5^}"],
        "before a character that is wrong as well": ["[1e30^9x]", "1e99^9-", "[1" + "0" * 400 + "e^0_0"],
    },
    Code.MAX_DEPTH: {
        "one bracket too many": ["[" * 128 + "^[", '{"a":' * 128 + "^{", "[" * 127 + '{"a":^['],
    },
    Code.MAX_NUMBER: {
        "one digit too many": ["1" * 1000 + "^1", "[0." + "1" * 998 + "^1", "[-" + "1" * 999 + "^.5]"],
    },
}

# reason -> the prefix, the caret, and a continuation that makes it JSON
_OPEN: dict[str, list[str]] = {
    "nothing yet": ["^0", " ^0", "\n^0", "\r\n^[]"],
    "a bracket": ["[^]", "{^}", "[ ^1]", "{ ^}", "[[^]]", '{"a":[^]}', '[{^"a":1}]', "[" * 128 + "^" + "]" * 128],
    "a literal begun": ["t^rue", "tr^ue", "tru^e", "f^alse", "fals^e", "n^ull", "nul^l", "[t^rue]", '{"a":nu^ll}'],
    "a number that has to go on": ["-^1", "1.^5", "1e^5", "1E^5", "1e+^5", "1e-^5", "[-^0]", "[0.^0]", "[1.5e^1]"],
    "a number that may go on": ["0^", "12^3", "[1^2]", "[0^.5]", "[1.5^e3]", "[1e5^0]", '{"a":1^}', "-0^.0"],
    "a number that may end or come close to the limit": ["[7^]", "1e30^8"],
    "too large until an exponent repairs it": ["9" * 400 + ".0^e-300", "[1" + "0" * 400 + "e^-300]"],
    "too large until a longer exponent repairs it": ["9" * 400 + "e-1^00"],
    "a string": ['"^"', '"a^"', '"a b^"', '["^"]', '["a",^"b"]', '{"a":"^"}', '{"a":"b^c"}', '"😀^"', '"b^\\n"'],
    "an escape begun": ['"\\^n"', '"\\u^0041"', '"\\u0^041"', '"\\u00^41"', '"\\u004^1"', '["a\\^""]'],
    "an escape begun inside": ['{"a":"\\u1^234"}'],
    "a high half that waits": ['"\\ud83d^"', '"\\ud83d\\^ude00"', '"\\ud83d\\u^de00"', '"\\ud83d\\ude0^0"'],
    "a second high half that waits": ['"a\\ud83d\\ud83d^x"'],
    "a key": ['{"^":1}', '{"a^":1}', '{"a":1,^"b":2}', '{"a":1,"^b":2}', '{"\\^"":1}', '{"\\ud83d^":1}'],
    "a further key": ['{"a":1, ^"":2}'],
    "after a key": ['{"a"^:1}', '{"a" ^:1}', '{"a":^1}', '{"a": ^[]}', '{"a"\n^:\n1}', '{"":^0}', '{"a":1,"a":^2}'],
    "after a value": ["[1 ^]", "[1,^2]", '["a"^]', '["b"^,1]', "[[]^]", "[{}^,1]", '{"a":1 ^}', '{"a":{}^}'],
    "after a literal, after a comma": ["[true^]", "[1, ^1]"],
}

# options, code (None: it is accepted), texts
_DIALECT: list[tuple[dict[str, Any], Code | None, list[str]]] = [
    ({"surrogates": "error"}, Code.LONE_SURROGATE, [r'"\ud83d^x"', r'"\ud83d^"', r'"\ud83d\^n"']),
    ({"surrogates": "error"}, Code.LONE_SURROGATE, [r'"\ud83d\u^0041"', r'"\ud83d\ud^83d"']),
    ({"surrogates": "error"}, Code.LONE_SURROGATE, [r'"\ud^e00"', r'"a\uD^Cff"', r'{"\ud^fff":1}']),
    ({"surrogates": "error"}, Code.LONE_SURROGATE, ['"\\ud83d^\n"', r'"\ud83d\^q"', r'{"\ud83d^":1}']),
    (
        {"surrogates": "error"},
        Code.LONE_SURROGATE,
        ['"^\ude00"', '"\ud83d^x"', '"\ud83d^"', '{"a^\udfff":1}', '"\ud83d^\ud83d"'],
    ),
    (
        {"surrogates": "error"},
        Code.LONE_SURROGATE,
        ['"\ud83d\\^n"', '"\ud83d\\u^0"', '"\ud83d\\ud^8"', '"\\ud83d^\ud83d"'],
    ),
    ({"surrogates": "error"}, Code.INVALID_ESCAPE, ['"\ud83d\\u^g"', '"\ud83d\\ude^g"']),
    ({"surrogates": "error"}, None, ['"\ud83d\ude00"', '"\ud83d\\ude00"', '{"\\ud83d\ude00":1}']),
    ({"surrogates": "error"}, Code.INVALID_ESCAPE, [r'"\ud^g"', r'"\ud83d\u^g"', r'"\ud83d\ud^g"']),
    ({"surrogates": "error"}, Code.INVALID_ESCAPE, [r'"\ud83d\ude^g"', r'"\^q"']),
    ({"surrogates": "error"}, None, [r'"\ud83d\ude00"', r'"\uD83D\uDE00\ud83d\ude00"', r'"\ud7ff\ue000"', r'"\u0000"']),
    ({"trailing_commas": True}, None, ["[1,]", '{"a":1,}', '[[1,],{"a":"b",},]', "[1 , ]", '{"a":[],\n}']),
    ({"trailing_commas": True}, Code.UNEXPECTED_CHARACTER, ["[^,]", "{^,}", "[1,^,]", '{"a":1,^,}', "[1,^}"]),
    ({"trailing_commas": True}, Code.UNEXPECTED_CHARACTER, ['{"a":^,}', "[^,1]"]),
    ({"trailing_commas": True}, Code.TRAILING_TEXT, ["1^,", "[1,]^,", "{} ^,"]),
    ({"multiple": True}, None, ["1 2", "{}{}", '{"a":1}\n{"a":2}\n', "[][]", '"a""b"', "1\n", "true false"]),
    ({"multiple": True}, None, ['1 "a" [2]', "", " \n"]),
    ({"multiple": True}, Code.UNEXPECTED_CHARACTER, ["1 ^,2", "{}^,{}", "[1]\n^]", "1^,2", "12^]", "{} ^x"]),
    ({"multiple": True}, Code.INVALID_NUMBER, ["12^x", "0^1", '1^"a"', "1^{}", "1^[]", "{}0^1"]),
    ({"multiple": True}, Code.INVALID_LITERAL, ["true^false", "null^{}", "{}true^ish"]),
    ({"multiple": True}, None, ["{}1", '"a"true', "[]null ", '1\n"a"']),
    ({"multiple": True}, Code.UNEXPECTED_CHARACTER, ["^,", '{"a":1}\n{"a":1 ^"']),
    ({"trailing": "ignore"}, None, ["{}x", "1 x", "12,", "[] ]]", '"a"\\', "null}", "{}\x00", "1.5 .5", "true\ntrue"]),
    ({"trailing": "ignore"}, Code.INVALID_NUMBER, ["12^x", "1.5^.5", "1^{"]),
    ({"trailing": "ignore"}, Code.INVALID_LITERAL, ['null^"', "true^ish"]),
    ({"trailing": "ignore"}, Code.UNEXPECTED_CHARACTER, ["^x", "[1^}", '{"a" ^1}']),
    ({"duplicate_keys": "error"}, Code.DUPLICATE_KEY, ['{"a":1,"a^":2}', '{"":1,"^":2}']),
    ({"duplicate_keys": "error"}, Code.DUPLICATE_KEY, ['{"a":1,"\\u0061^"', '[{"x":{},"y":1,"x^"']),
    ({"duplicate_keys": "error"}, None, ['{"a":1,"b":2}', '{"a":{"a":1}}', '[{"a":1},{"a":1}]', '{"a":1,"A":2}']),
    ({"max_chars": 4}, Code.MAX_CHARS, ["[1, ^2]", "true^ ", '"abc^"', "1234^5", "[[[[^[", "1   ^ "]),
    ({"max_chars": 4}, Code.MAX_CHARS, ['["\\u^0041"]', "null^x"]),
    ({"max_chars": 4}, None, ["true", "1234", '"ab"', "[1] "]),
    ({"max_chars": 0}, Code.MAX_CHARS, ["^1", "^ "]),
    ({"max_depth": 2}, Code.MAX_DEPTH, ["[[^[", '{"a":[^{', "[1,[2,^[3]]]", '[{},{"a":^[']),
    ({"max_depth": 2}, None, ["[[],[],{}]", '{"a":[1]}']),
    ({"max_depth": 0}, Code.MAX_DEPTH, ["^[", "^{"]),
    ({"max_string": 3}, Code.MAX_STRING, ['"abc^d"', r'"abc^\n"', '["abc^d', '{"a":"abc^d', r'"\u0041bc^\\"']),
    ({"max_string": 3}, Code.MAX_STRING, ['"😀😀😀^😀"', '"abc^\n"']),
    ({"max_string": 3}, None, ['"abc"', r'"\u0041\n\\"', '"😀😀😀"', r'"ab\ud83d\ude00"', r'"ab\ud83d"']),
    ({"max_string": 3}, None, ['{"longer":"abc"}']),
    ({"max_string": 1}, Code.MAX_STRING, [r'"\ud83d^x"', r'"\ud83d^\n"', r'"\ud83d^\u0041"']),
    ({"max_string": 1}, Code.MAX_STRING, [r'"\ud83d^\ud83d"', r'"\ud83d\ude00^x"']),
    ({"max_string": 1}, Code.MAX_STRING, ['"\ud83d\ude00^x"', '"\ud83d^x"', '"\ud83d^\ud83d"', '"x^\ud83d"']),
    ({"max_string": 1}, None, ['"\ud83d\ude00"', '"\ud83d\\ude00"', '"\ud83d"', '"\\ud83d\ude00"']),
    ({"max_string": 1}, Code.INVALID_ESCAPE, [r'"\ud83d\^q"', r'"\ud83d\u00^g"']),
    ({"max_string": 0}, Code.MAX_STRING, ['"^a"', r'"^\n"', '{"key":"^a']),
    ({"max_string": 0}, None, ['""', '{"key":""}']),
    ({"max_key": 2}, Code.MAX_KEY, ['{"ab^c"', r'{"ab^\n"', r'{"\u0041b^\ud83d', '{"a":1,"ab^c']),
    ({"max_key": 2}, None, ['{"ab":"longer"}', r'{"a\ud83d\ude00":1}', '{"":1}']),
    (
        {"max_path": 3},
        Code.MAX_PATH,
        ['{"abc^d"', r'{"abc^\n"', '{"a":{"bc^d"', '{"a":[1,{"b":{"c":1,"d^e":2', '{"abc":{"^d"'],
    ),
    ({"max_path": 3}, Code.MAX_PATH, ['{"ab":{"c":[]},"":[{"":{"abc^d', '{"ab":[{"c":{"":{"^d']),
    ({"max_path": 3}, None, ['{"abc":{"":1},"de":[{"f":[0]}],"ghi":1}', r'{"a\ud83d\ude00":{"b":1}}']),
    ({"max_path": 2, "max_key": 2}, Code.MAX_KEY, ['{"ab^c"', '[{"ab^c', '{"":{"ab^c']),
    ({"max_path": 2, "max_key": 2}, Code.MAX_PATH, ['{"a":{"b^c', '{"ab":1,"a":[{"b":{"^c']),
    ({"max_number": 3}, Code.MAX_NUMBER, ["123^4", "[-12^3]", "1.5^5", "1e1^0", "[0.0^0", "123^.5", '{"a":12e^5']),
    ({"max_number": 3}, Code.INVALID_NUMBER, ["12.^x", "[1e+^]", "-^x"]),
    ({"max_number": 3}, None, ["123", "[-12,1e5,0.5]", "-0 "]),
    ({"max_number": 4}, Code.MAX_NUMBER, ["1e30^9", "[1e99^9]"]),
]

# what is visible, and the prefixes of which that is so
_PARTIAL: list[tuple[Any, list[str]]] = [
    (
        MISSING,
        [
            "",
            " \n",
            "t",
            "tru",
            "nul",
            "-",
            "1",
            "12",
            "1.",
            "1.5",
            "1e5",
            "x",
            "-x",
            "1.x",
            "trux",
            "true",
            "truex",
            "12x",
        ],
    ),
    (
        {},
        [
            "{",
            "{ ",
            '{"',
            '{"a',
            '{"a"',
            '{"a" :',
            '{"a":1',
            '{"a":-',
            '{"a":t',
            '{"a":tru',
            "{x",
            "{}",
            '{"a":1x',
            '{"a":true',
        ],
    ),
    (
        [],
        [
            "[",
            "[ ",
            "[1",
            "[1.5",
            "[1e",
            "[n",
            "[nul",
            "[-",
            "[1.x",
            "[trux",
            "[]",
            "[}",
            "[1x",
            "[01",
            "[true",
            "[truex",
        ],
    ),
    ([1], ["[1,", "[1 ", "[1]", "[1, 2", "[1, tru", "[1, 2x", "[1 2", "[1,x", "[1}"]),
    ("", ['"', '"\\', '"\\u', '"\\u12', '"\\q', '"\\ud83d', '"\\ud83d\\ude0', '"\\ud83d\\q', '""']),
    ("a", ['"a', '"a"', '"a\\', '"a\\u004', '"a\n', '"a\\x', '"a\\ud83d', '"a\\ud83d\\', '"\\u0061']),
    ("a\ufffd", ['"a\\ud83d"', '"a\\ud83d\n', '"a\\ude00', '"a\\ud83d\\ud83d', '"a\\udbff\\ud8ff\\u00']),
    ("", ['"\ud83d', '"\ud83d\\', '"\ud83d\\ude0']),
    ("a\ufffd", ['"a\ud83d"', '"a\ude00', '"a\ud83d\ud83d', '"a\ud83d\\ud83d']),
    ("😀", ['"\ud83d\ude00', '"\ud83d\\ude00', '"\\ud83d\ude00', '"\ud83d\ude00\ud83d']),
    ("😀", ['"\\ud83d\\ude00', '"😀', '"\\ud83d\\ude00\\ud83d', '"\\uD83D\\uDE00"']),
    ({"a": ""}, ['{"a":"', '{"a":"\\', '{"a":""', '{"\\u0061":"', '{"a":"",', '{"a":"","b":']),
    ({"a": 1}, ['{"a":1,', '{"a":1 ', '{"a":1}', '{"a":1,"a":', '{"a":1,"a":2', '{"a":1,x']),
    ({"a": [{}]}, ['{"a":[{', '{"a":[{}', '{"a":[{}]', '{"a":[{"b', '{"a":[{"b":t', '{"a":0,"a":[{']),
    ({"a": [], "b": 2}, ['{"a":1,"b":2,"a":[', '{"a":[],"b":2}', '{"a":[],"b":2,"a"']),
    (True, ["true ", "true,", "true]", "true\n"]),
    (12, ["12 ", "12,", "12]"]),
    ([True], ["[true ", "[true,", "[true]", "[true}"]),
    ([0], ["[0 ", "[-0]"]),
    ([-0.0], ["[-0.0]", "[-0e5,"]),
]

# dead texts, the line and column of the caret, and the path of the value there
_PLACES: list[tuple[str, int, int, Steps]] = [
    ("^x", 1, 1, ()),
    ("[\n^x", 2, 1, (0,)),
    ("[\r\n  ^x", 2, 3, (0,)),
    ("[\r\r^x", 1, 4, (0,)),
    ("[1,\n\n ^x", 3, 2, (1,)),
    ("[1.^\n", 1, 4, (0,)),
    ('["a^\n', 1, 4, (0,)),
    ('["😀",^x', 1, 6, (1,)),
    ('{"a": ^x', 1, 7, ("a",)),
    ('{"a" ^1', 1, 6, ()),
    ('{"a":1 ^x', 1, 8, ()),
    ('{"a":1,^x', 1, 8, ()),
    ('{"a":1,"b^\n', 1, 10, ()),
    ('{"a":"b^\n', 1, 8, ("a",)),
    ('{"a":tr^x', 1, 8, ("a",)),
    ('{"a":[1,-^x', 1, 10, ("a", 1)),
    ('{"a":[1^x', 1, 8, ("a", 0)),
    ('{"due":2024^-01-15', 1, 12, ("due",)),
    ('{"a":true^ish', 1, 10, ("a",)),
    ('{"a":[1 ^x', 1, 9, ("a",)),
    ('{"a":[1,2 ^x', 1, 11, ("a",)),
    ('{"a":[^}', 1, 7, ("a", 0)),
    ('{"a":[]^x', 1, 8, ()),
    ('{"a":{"b":[[],{^x', 1, 16, ("a", "b", 1)),
    ('{"":{".":[{"0":1.^x', 1, 18, ("", ".", 0, "0")),
    ('{"\\u0061":[1e30^9', 1, 16, ("a", 0)),
    ("[" + "9" * 400 + ".0^]", 1, 404, (0,)),
    ("[]\n\n^x", 3, 1, ()),
    ("[" * 128 + "^[", 1, 129, (0,) * 128),
]

# reason -> bytes that may become JSON
_BYTES_WHOLE: dict[str, list[bytes]] = {
    "whole characters": [b'"\x7f"', b'"\xc3\xa9"', b'"\xe2\x82\xac"', b'"\xf0\x9f\x98\x80"'],
    "the first of each length": [b'"\xc2\x80"', b'"\xe0\xa0\x80"', b'"\xf0\x90\x80\x80"'],
    "the last of each length": [b'"\xdf\xbf"', b'"\xef\xbf\xbf"', b'"\xf4\x8f\xbf\xbf"'],
    "beside surrogates, noncharacters": [b'"\xed\x9f\xbf"', b'"\xee\x80\x80"', b'"\xef\xb7\x90"', b'"\xef\xbb\xbf"'],
    "cut inside of a character": [b'"\xc3', b'"\xe2\x82', b'"\xe2', b'"\xf0\x9f\x98', b'"\xf0\x9f'],
    "the same, in a key and after an escape": [b'{"\xf0', b'"\\n\xc3'],
}
# reason -> bytes with the caret before the byte that cannot be repaired, inside of a string
_BYTES_BROKEN: dict[str, list[bytes]] = {
    "a byte that only continues": [b'"^\x80"', b'"^\xbf"', b'"a^\x80', b'{"^\x80":1}'],
    "a byte that starts nothing": [b'"a^\xc0\x80"', b'"^\xc1\xbf"', b'"^\xf5\x80\x80\x80"', b'"^\xfe"', b'"^\xff"'],
    "two bytes not continued": [b'"\xc3^"', b'"\xc3^a', b'"\xc3^\xc3"', b'{"\xc3^":1}'],
    "more bytes not continued": [b'"\xe2\x82^"', b'"\xe2^(', b'"\xf0\x9f\x98^"', b'"\xf0\x9f^\\', b'"\xe2\x82^\n'],
    "three bytes too long for what they say": [b'"\xe0^\x80\xaf"', b'"\xe0^\x9f\xbf"'],
    "four bytes too long for what they say": [b'"\xf0^\x80\x80\xaf"', b'"\xf0^\x8f\xbf\xbf"'],
    "half a pair": [b'"\xed^\xa0\x80"', b'"\xed^\xbf\xbf"', b'"\xed^\xa0\xbd\xed\xb8\x80"', b'{"\xed^\xb0\x80":1}'],
    "beyond the last character": [b'"\xf4^\x90\x80\x80"', b'"\xf4^\xbf\xbf\xbf"'],
    "a continuation too many": [b'"\xc3\xa9^\xa9"', b'"\xe2\x82\xac^\xac"', b'"\xf0\x9f\x98\x80^\x80"'],
}
# the same where no character beyond ASCII can stand, so that its first byte is too much
_BYTES_MISPLACED: dict[str, list[bytes]] = {
    "whole characters": [b"^\xc3\xa9", b"[^\xc3\xa9]", b"^\xef\xbb\xbf{}", b"[1^\xc2\xa0]", b'{"a"^\xef\xbc\x9a1}'],
    "their beginnings": [b"12^\xc3", b"tr^\xc3", b"-^\xe2\x88\x92", b"{^\xe2", b'{"a":^\xf0\x9f', b'["a"^\xef\xbc'],
    "no UTF-8": [b"^\x80", b"[^\xff]", b"[1,^\xc0]", b"{^\xed\xa0\x80", b"{}^\xff", b"^\xff\xfe[\x00", b"[^\x00]\x00"],
    "inside of an escape": [b'"\\^\xc3\xa9"', b'"\\u^\xc3\xa9"', b'"\\u00e^\xc3\xa9"', b'"\\^\xff"', b'"\\u12^\x80"'],
}

_ITINERARY = {
    "title": "Three days in Kruger",
    "days": [
        {
            "subtitle": "Day 1: Arrival",
            "activities": [
                {"type": "Sightseeing", "title": "Morning Game Drive", "description": "Embark at dawn.", "hours": 3.5},
                {"type": "FoodAndDining", "title": "Lunch", "description": 'At "The Deck", above the river.'},
            ],
        },
        {"subtitle": "Day 2: The north", "activities": [], "optional": True, "notes": None},
    ],
    "price": {"amount": 1249.90, "currency": "EUR", "deposit": 0},
}
_CODE = 'def area(r: float) -> float:\n\t"""πr²"""\n\treturn 3.14159 * r ** 2  # C:\\temp\\new\n'
_TRAVELLER = {"名前": "🧭 Zoë", "flag": "🇿🇦", "family": "👩\u200d👩\u200d👧", "rtl": "שלום", "e\u0301": "é"}

DOCUMENTS: dict[str, str] = {
    "itinerary": json.dumps(_ITINERARY),
    "itinerary, indented": json.dumps(_ITINERARY, indent=2),
    "itinerary, CRLF and tabs": json.dumps(_ITINERARY, indent="\t").replace("\n", "\r\n") + "\r\n",
    "tool call with code in a string": json.dumps({"path": "src/area.py", "content": _CODE, "overwrite": False}),
    "tool call with JSON in a string": json.dumps({"name": "save", "arguments": json.dumps({"text": 'a "b"\n'})}),
    "unicode as it is": json.dumps(_TRAVELLER, ensure_ascii=False),
    "unicode as escapes": json.dumps(_TRAVELLER),
    "deep": '{"in":[' * 60 + '"bottom"' + "]}" * 60,
    "wide array": json.dumps([{"id": i, "ok": i % 3 == 0, "score": i / 8} for i in range(30)], separators=(",", ":")),
    "wide object": json.dumps({f"key {i}": [i, -i, None][i % 3] for i in range(80)}),
    "duplicate keys": '{"a": 1, "b": {"a": "x", "a": ["y"]}, "a": "two", "c": null, "b": [], "a": {"a": 0}}',
    "odd keys": '{"": 1, ".": 2, "a.b": {"": {"": 3}}, "[0]": [4], "0": {"0": 5}, "a": {"b": 6}, "$": 7, "\\"": 8}',
    "numbers": "[0, -0, 0.0, -0.0, 1e5, 1E+5, 1e-5, 12345678901234567890, 0.1, 1.50, -2e307]",
    "strings": r'["", " ", "\"", "\\", "\/", "\b\f\n\r\t", "\u0000", "\u00E9\u20ac", "\ud83d\uDE00", "a\u0301"]',
    "rows": '[["id","name"],\n [1,"Ada"],\n [2,"Grace, \\"Amazing\\""],\n [3,null]\n]\n',
}

MARK = "^"


def _cut(marked: str) -> tuple[str, str]:
    before, mark, after = marked.partition(MARK)
    assert mark, marked
    return before, after


VALID: list[str] = [text for texts in _VALID.values() for text in texts]
"""JSON texts."""

BROKEN: list[tuple[str, int, Code]] = [
    (before + after, len(before), code)
    for code, reasons in _BROKEN.items()
    for texts in reasons.values()
    for before, after in map(_cut, texts)
]
"""Texts, the offset at which each is dead, and why."""

OPEN: list[tuple[str, str]] = [_cut(text) for texts in _OPEN.values() for text in texts]
"""Prefixes, each with a continuation that completes it."""

DIALECT_VALID: list[tuple[dict[str, Any], str]] = [
    (options, text) for options, code, texts in _DIALECT if code is None for text in texts
]
"""Options and texts that are accepted with them."""

DIALECT_BROKEN: list[tuple[dict[str, Any], str, int, Code]] = [
    (options, before + after, len(before), code)
    for options, code, texts in _DIALECT
    if code is not None
    for before, after in map(_cut, texts)
]
"""Options, texts, the offset at which each is dead with them, and why."""

PARTIAL: list[tuple[str, Any]] = [(prefix, value) for value, prefixes in _PARTIAL for prefix in prefixes]
"""Prefixes, and what is visible of each."""

PLACES: list[tuple[str, int, int, int, Steps]] = [
    (text.replace(MARK, ""), text.index(MARK), line, column, path) for text, line, column, path in _PLACES
]
"""Dead texts, and the offset, line, column and path of their errors."""

BYTES: list[tuple[bytes, int | None, Code | None]] = [
    (data.replace(b"^", b""), data.index(b"^") if b"^" in data else None, code)
    for reasons, code in ((_BYTES_WHOLE, None), (_BYTES_BROKEN, Code.INVALID_UTF8), (_BYTES_MISPLACED, None))
    for all_data in reasons.values()
    for data in all_data
]
"""Bytes, the index of the byte at which they are dead (None: they are not), and why (None: not said)."""
