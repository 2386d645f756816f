/** Where calls wait while a server pauses. */
export class Gate {
  #waiting: Array<() => void> = [];
  #pauses = 0;

  /** Carries out a call, now or when the server continues. */
  run(call: () => void): void {
    if (this.#pauses === 0) call();
    else this.#waiting.push(call);
  }

  /** Pauses until the returned function is called. */
  close(): () => void {
    this.#pauses += 1;
    return () => {
      this.#pauses -= 1;
      if (this.#pauses > 0) return;
      for (const call of this.#waiting.splice(0)) call();
    };
  }
}
