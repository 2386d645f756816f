/** A message about a completed action, or an error that has no other place. */
export interface Toast {
  readonly id: number;
  readonly tone: 'ok' | 'bad';
  readonly title: string;
  readonly detail: string;
  readonly action: { readonly label: string; readonly run: () => void } | null;
}

const shownMs = 6_000;
const maxShown = 4;

/** Shows messages. Errors stay until the user closes them. */
export class Toasts {
  #shown: ReadonlyArray<Toast> = [];
  #made = 0;
  readonly #listeners = new Set<() => void>();

  get shown(): ReadonlyArray<Toast> {
    return this.#shown;
  }

  /** Shows a message, which disappears after some seconds unless it is an error. */
  show(title: string, detail = '', action: Toast['action'] = null): void {
    const { id } = this.#add({ tone: 'ok', title, detail, action });
    setTimeout(() => this.close(id), shownMs);
  }

  showError(title: string, detail: string): void {
    this.#add({ tone: 'bad', title, detail, action: null });
  }

  close(id: number): void {
    this.#shown = this.#shown.filter((toast) => toast.id !== id);
    this.#changed();
  }

  /** @returns a function that removes the listener */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #add(toast: Omit<Toast, 'id'>): Toast {
    this.#made += 1;
    const made = { ...toast, id: this.#made };
    this.#shown = [...this.#shown, made].slice(-maxShown);
    this.#changed();
    return made;
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
