// Opening a stream: the one that is shown stays until the new one is there. It can be cancelled, and if it fails, the
// page says why.

import * as api from "./api.js";
import { byId, bytes, setText } from "./dom.js";
import { notice, say } from "./status.js";
import { watch } from "./stream.js";

export class Loading {
  #cancel = null;

  /** `ready(id, source, isLive)` when there is something to see; `complain(words)` if there never will be. */
  constructor({ ready, complain }) {
    this.ready = ready;
    this.complain = complain;
    byId("loading-cancel").addEventListener("click", () => this.cancel());
  }

  cancel() {
    this.#cancel?.();
    say("");
  }

  async open(source) {
    this.#cancel?.();
    notice("");
    say("");
    let isOver = false;
    let id = null;
    let stop = () => {};
    const end = () => {
      isOver = true;
      stop();
      if (this.#cancel === cancel) {
        this.#cancel = null;
        byId("loading").hidden = true;
      }
    };
    const cancel = () => {
      end();
      if (id !== null) api.close(id).catch(() => {}); // it may be gone already
    };
    this.#cancel = cancel;
    this.#show(source, null);
    try {
      const { file, ...rest } = { ...source, in_background: true };
      ({ id } = file ? await api.upload(file, rest) : await api.open(rest));
    } catch (error) {
      if (isOver) return;
      end();
      this.complain(error.message);
      return;
    }
    if (isOver) {
      api.close(id).catch(() => {});
      return;
    }
    stop = watch(id, {
      changed: (known) => {
        if (isOver) return;
        const isEmpty = known.characters === 0 && known.last <= 1;
        if (known.is_finished && known.problem && isEmpty) {
          cancel();
          this.complain(`${known.title}: ${known.problem}`);
        } else if (known.is_finished || (known.is_live && known.last > 0)) {
          end();
          say(`Opened: ${known.title}`);
          this.ready(id, source, known.is_live);
        } else this.#show(source, known.loading);
      },
      connected: () => {},
      refused: () => {
        if (isOver) return;
        end();
        this.ready(id, source, false); // the page says why it cannot be followed
      },
    });
  }

  #show(source, progress) {
    const bar = byId("busy");
    byId("loading").hidden = false;
    if (progress === null) {
      bar.removeAttribute("value");
      setText(byId("loading-words"), source.url ? `Waiting for ${source.url}` : "Opening");
      return;
    }
    bar.max = progress.size;
    bar.value = progress.read;
    setText(byId("loading-words"), `Reading: ${bytes(progress.read)} of ${bytes(progress.size)}`);
  }
}
