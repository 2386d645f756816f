const wordsOfSlot = 3;
const firstSlots = 1 << 12;

/**
 * The last revision of each of many streams, 12 to 48 bytes for each, which the garbage collector does not copy. A
 * stream is known by 64 bits of hash: of a million streams, two are taken for one with a probability of 1 in 10⁸.
 */
export class StreamRevisions {
  readonly #maxStreams: number;
  /** Open addressing: two words of hash, and the revision + 1, which is 0 in a free slot. */
  #words = new Uint32Array(firstSlots * wordsOfSlot);
  #size = 0;

  /** @param maxStreams a power of two; further streams are not known */
  constructor(maxStreams: number) {
    this.#maxStreams = maxStreams;
  }

  /**
   * Notes the revision of a stream's next event.
   * @returns the highest revision before; -1 without one; null if the stream is not known because there are too many
   */
  note(stream: string, revision: number): number | null {
    const [first, second] = hashesOf(stream);
    const at = this.#slotOf(first, second);
    const before = (this.#words[at + 2] ?? 0) - 1;
    if (before === -1) {
      if (this.#size >= this.#maxStreams) return null;
      this.#size += 1;
    }
    this.#put(at, first, second, Math.max(before, revision) + 1);
    if (2 * this.#size * wordsOfSlot > this.#words.length) this.#grow();
    return before;
  }

  #put(at: number, first: number, second: number, next: number): void {
    this.#words[at] = first;
    this.#words[at + 1] = second;
    this.#words[at + 2] = next;
  }

  /** The stream's slot, or the free slot for it. */
  #slotOf(first: number, second: number): number {
    const words = this.#words;
    const slots = words.length / wordsOfSlot;
    for (let slot = first & (slots - 1); ; slot = (slot + 1) & (slots - 1)) {
      const at = slot * wordsOfSlot;
      if (words[at + 2] === 0 || (words[at] === first && words[at + 1] === second)) return at;
    }
  }

  #grow(): void {
    const before = this.#words;
    this.#words = new Uint32Array(2 * before.length);
    for (let at = 0; at < before.length; at += wordsOfSlot) {
      const [first = 0, second = 0, next = 0] = before.subarray(at, at + wordsOfSlot);
      if (next !== 0) this.#put(this.#slotOf(first, second), first, second, next);
    }
  }
}

/** Two hashes in the manner of FNV-1a, with different primes, each mixed at the end. */
function hashesOf(text: string): readonly [number, number] {
  let first = 0x811c9dc5;
  let second = 0x9747b28c;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    first = Math.imul(first ^ unit, 0x01000193);
    second = Math.imul(second ^ unit, 0x85ebca6b);
  }
  return [mixed(first), mixed(second)];
}

function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35);
  return (once ^ (once >>> 13)) >>> 0;
}
