const bits = 2 ** 24;
const probes = 3;

/**
 * Remembers ids in two megabytes, however many: it never forgets one, and takes few others for one of them as long as
 * there are not many millions (a Bloom filter).
 */
export class IdFilter {
  readonly #words = new Uint32Array(bits / 32);

  add(id: string): void {
    const [first, step] = hashes(id);
    for (let probe = 0; probe < probes; probe += 1) {
      const bit = (first + probe * step) % bits;
      this.#words[bit >>> 5] = (this.#words[bit >>> 5] ?? 0) | (1 << (bit & 31));
    }
  }

  /** False for an id that was certainly never added. */
  mayHave(id: string): boolean {
    const [first, step] = hashes(id);
    for (let probe = 0; probe < probes; probe += 1) {
      const bit = (first + probe * step) % bits;
      if (((this.#words[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }
}

/** Two hashes (FNV-1a, and one of its kind) in one pass; the second is odd, so that its steps meet every bit. */
function hashes(id: string): readonly [number, number] {
  let first = 0x811c9dc5;
  let second = 0x9e3779b9;
  for (let index = 0; index < id.length; index += 1) {
    const code = id.charCodeAt(index);
    first = Math.imul(first ^ code, 0x01000193);
    second = Math.imul(second ^ code, 0x85ebca6b);
  }
  return [first >>> 0, (second | 1) >>> 0];
}
