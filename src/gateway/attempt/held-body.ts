import type { ByteReservation } from '#exchange/byte-budget.ts';
import { largeBodyBytes } from '#exchange/turns.ts';
import { ForeignJsonScan } from '#gateway/framing/foreign-json.ts';
import { GatheredBytes } from '#gateway/framing/gathered-bytes.ts';
import { noRoom, tooLarge } from './attempt-failure.ts';
import type { AttemptControl } from './body-consumer.ts';

/** Maximum bytes of a held body. */
const maxBytes = 64 * 1024 * 1024;

/**
 * The body of an answer in memory, until it is whole. Its attempt fails if it has too many bytes, if the node has no
 * room, or if it is to be parsed and has more than may be.
 */
export class HeldBody {
  readonly #attempt: AttemptControl;
  readonly #hold: Pick<ByteReservation, 'takeBegun'>;
  readonly #isParsed: boolean;
  readonly #gathered = new GatheredBytes();
  /** Whether nothing but white space has arrived. */
  #isBlank = true;
  /** Null while the body is small: that is scanned when it is parsed. */
  #scan: ForeignJsonScan | null = null;

  /**
   * @param hold counts its bytes
   * @param isParsed whether all of it is parsed as it arrives: JSON that is not compressed
   */
  constructor(attempt: AttemptControl, hold: Pick<ByteReservation, 'takeBegun'>, isParsed: boolean) {
    this.#attempt = attempt;
    this.#hold = hold;
    this.#isParsed = isParsed;
  }

  /** What has arrived so far. */
  get bytes(): Buffer {
    return this.#gathered.bytes;
  }

  /** What has counted the values in what has arrived; null if nothing has. */
  get scan(): ForeignJsonScan | null {
    return this.#scan;
  }

  /** Takes the next piece. */
  take(chunk: Buffer): void {
    this.#isBlank &&= isBlank(chunk);
    // Some providers send empty lines while they make the answer.
    if (this.#isBlank) this.#attempt.markAlive(false);
    else this.#attempt.markContent();
    this.#gathered.add(chunk);
    if (this.#gathered.length > maxBytes || this.#hasTooMuch(chunk)) this.#attempt.fail(tooLarge);
    else if (!this.#hold.takeBegun(chunk.length)) this.#attempt.fail(noRoom);
  }

  #hasTooMuch(chunk: Buffer): boolean {
    if (!this.#isParsed || this.#gathered.length <= largeBodyBytes) return false;
    const scan = this.#scan ?? new ForeignJsonScan();
    scan.feed(this.#scan === null ? this.bytes : chunk);
    this.#scan = scan;
    return scan.isTooLarge;
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));
}
