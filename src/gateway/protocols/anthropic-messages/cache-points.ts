import type { WritableJson } from '#gateway/framing/json-text.ts';
import { type CacheControl, isForAnHour, isSameTime } from '#gateway/protocols/cache-control.ts';

/** A block of a request, or a tool; without its cache control. */
export type Block = { [member: string]: WritableJson | undefined };

/** Maximum number of points. Anthropic refuses more. */
const maxPoints = 4;

/**
 * Up to these points Anthropic keeps a prompt (https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching). It
 * reads tools, then the system, then messages, and what is kept up to a later point includes all before it. So of more
 * than four points the last ones stay; and because Anthropic refuses an hour after five minutes, the five minutes
 * before it are left out.
 */
export class CachePoints {
  readonly #asked = new Map<Block, CacheControl>();

  mark<Marked extends Block>(block: Marked, cacheControl: CacheControl | undefined): Marked {
    if (cacheControl !== undefined) this.#asked.set(block, cacheControl);
    return block;
  }

  /**
   * Puts the points that stay on their blocks.
   * @param blocks all, in the order in which Anthropic reads them
   * @param automatic what is asked for the whole prompt: a point on its last block
   * @param ignored gets the places of the points that do not stay
   * @returns what the request itself asks
   */
  put(
    blocks: ReadonlyArray<Block>,
    automatic: CacheControl | undefined,
    ignored: Set<string>,
  ): CacheControl | undefined {
    const whole = this.#automaticPoint(automatic, blocks.at(-1), ignored);
    let left = whole === undefined ? maxPoints : maxPoints - 1;
    let isBeforeHour = whole !== undefined && isForAnHour(whole);
    for (const block of blocks.toReversed()) {
      const asked = this.#asked.get(block);
      if (asked === undefined) continue;
      if (left === 0 || (isBeforeHour && !isForAnHour(asked))) {
        ignored.add(asked.pointer);
        continue;
      }
      block.cache_control = asked.value;
      left -= 1;
      isBeforeHour ||= isForAnHour(asked);
    }
    return whole;
  }

  /**
   * The point for the last block. It says nothing more where the last block asks for the same, and Anthropic refuses it
   * where that asks for another time.
   */
  #automaticPoint(
    automatic: CacheControl | undefined,
    last: Block | undefined,
    ignored: Set<string>,
  ): CacheControl | undefined {
    const ofLast = last && this.#asked.get(last);
    if (automatic === undefined || ofLast === undefined) return automatic;
    if (!isSameTime(ofLast, automatic)) ignored.add(automatic.pointer);
    return undefined;
  }
}
