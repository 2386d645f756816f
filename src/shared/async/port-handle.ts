import { Readable } from 'node:stream';

/**
 * Lets work use ports until it is closed. From then on every call through it throws, so work that continues has no more
 * effects: neither its new calls nor the next piece of a stream that it reads.
 */
export class PortHandle {
  readonly #refusal: () => Error;
  readonly #guarded = new WeakMap<object, object>();
  /** Functions that reject the calls that are not answered yet. */
  readonly #running = new Set<(error: Error) => void>();
  #isClosed = false;

  /** @param refusal makes the error of a call through the closed handle */
  constructor(refusal: () => Error) {
    this.#refusal = refusal;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Closes the handle. Calls that run still answer. */
  close(): void {
    this.#isClosed = true;
  }

  /** Refuses calls from now on, and answers running ones with the refusal: work that waits for them ends. */
  abandon(): void {
    this.#isClosed = true;
    for (const reject of this.#running) reject(this.#refusal());
    this.#running.clear();
  }

  /**
   * Returns a port whose calls work until the handle is closed: those of its methods, of its members that are ports
   * too, and the pieces of streams that it returns. A function is guarded as a port with one call.
   */
  guard<Port extends object>(port: Port): Port {
    let guarded = this.#guarded.get(port);
    if (guarded === undefined) {
      guarded = typeof port === 'function' ? this.#guardCall(port, undefined) : this.#guardMembers(port);
      this.#guarded.set(port, guarded);
    }
    return guarded as Port;
  }

  #guardMembers(port: object): object {
    const calls = new Map<PropertyKey, { readonly of: unknown; readonly call: object }>();
    return new Proxy(port, {
      get: (target, name) => {
        // The port itself is the receiver, because a proxy has no private members.
        const member: unknown = Reflect.get(target, name, target);
        if (isPort(member)) return this.guard(member);
        if (typeof member !== 'function' || name === 'constructor') return member;
        const known = calls.get(name);
        if (known?.of === member) return known.call;
        const call = this.#guardCall(member, target);
        calls.set(name, { of: member, call });
        return call;
      },
    });
  }

  #guardCall(call: object, port: object | undefined): object {
    return (...given: ReadonlyArray<unknown>): unknown => {
      this.#check();
      const answer: unknown = Reflect.apply(call as () => unknown, port, given);
      return answer instanceof Promise ? this.#waitFor(answer) : this.#guardAnswer(answer);
    };
  }

  #waitFor<Answer>(answer: Promise<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#running.add(reject);
      answer.then(
        (value) => {
          this.#running.delete(reject);
          resolve(this.#guardAnswer(value));
        },
        (error) => {
          this.#running.delete(reject);
          reject(error);
        },
      );
    });
  }

  /** Guards an answer. A stream that is not a `Readable` loses its other members. */
  #guardAnswer<Answer>(answer: Answer): Answer {
    if (typeof answer !== 'object' || answer === null || !(Symbol.asyncIterator in answer)) return answer;
    const pieces = this.#piecesOf(answer as AsyncIterable<unknown>);
    return (answer instanceof Readable ? readableOf(answer, pieces) : pieces) as unknown as Answer;
  }

  async *#piecesOf(stream: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    const pieces = stream[Symbol.asyncIterator]();
    let isAtEnd = false;
    try {
      for (;;) {
        this.#check();
        const piece = await this.#waitFor(Promise.resolve(pieces.next()));
        isAtEnd = piece.done === true;
        if (isAtEnd) return;
        yield piece.value;
      }
    } finally {
      // What the port holds for the stream is freed, also when nobody waits for that.
      const freed = isAtEnd ? undefined : Promise.resolve(pieces.return?.()).catch(ignore);
      if (!this.#isClosed) await freed;
    }
  }

  #check(): void {
    if (this.#isClosed) throw this.#refusal();
  }
}

/** True for a port. Plain data, and the language's own kinds of objects, are passed as they are. */
function isPort(member: unknown): member is object {
  if (typeof member !== 'object' || member === null) return false;
  if (Object.prototype.toString.call(member) !== '[object Object]') return false;
  const kind = Object.getPrototypeOf(member);
  const hasMethodsOfItsKind = kind !== Object.prototype && kind !== null;
  return hasMethodsOfItsKind || Object.values(member).some((value) => typeof value === 'function');
}

/** A stream of the pieces. It reads nothing ahead, and closes the stream that it reads. */
function readableOf(source: Readable, pieces: AsyncIterable<unknown>): Readable {
  const readable = Readable.from(pieces, { objectMode: source.readableObjectMode, highWaterMark: 0 });
  return readable.once('close', () => source.destroy());
}

function ignore(): void {}
