import type { Cacheable, Conversation, Part, PlacedValue, Tool } from '#gateway/neutral/conversation.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { type LeftOut, saysNothing } from './left-out.ts';

/** Asks Anthropic to keep the prompt up to a place, in Anthropic's form. */
export type CacheControl = PlacedValue<JsonObject>;

/** The times for which Anthropic keeps it (https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching). */
const times: ReadonlyArray<Json | undefined> = [undefined, null, '5m', '1h'];

/** True if the prompt is kept for an hour, otherwise for five minutes. */
export function isForAnHour({ value }: CacheControl): boolean {
  return value.ttl === '1h';
}

/**
 * What a request asks for all of its prompt: Anthropic then keeps it up to its last block, and OpenRouter's clients ask
 * so too (https://openrouter.ai/docs/features/prompt-caching).
 */
export function promptControl(body: JsonObject, leftOut: LeftOut): Pick<Conversation, 'cacheControl'> {
  const cacheControl = cacheControlIn(body, '', leftOut);
  return cacheControl === undefined ? {} : { cacheControl };
}

/** The cache control of an object; undefined for nothing. What Anthropic would refuse is left out. */
function cacheControlIn(object: JsonObject, pointer: string, leftOut: LeftOut): CacheControl | undefined {
  const { cache_control: asked } = object;
  if (saysNothing(asked)) return undefined;
  const place = `${pointer}/cache_control`;
  if (!isObject(asked) || asked.type !== 'ephemeral' || !times.includes(asked.ttl)) {
    leftOut.add(place);
    return undefined;
  }
  leftOut.take(place);
  const { type, ttl } = leftOut.read(asked, place, ['type', 'ttl']);
  return { value: typeof ttl === 'string' ? { type, ttl } : { type }, pointer: place };
}

/** Adds what the object asks that the part or tool was read from. */
export function withCacheControl<Read extends Cacheable>(
  read: Read,
  object: JsonObject,
  pointer: string,
  leftOut: LeftOut,
): Read {
  const cacheControl = cacheControlIn(object, pointer, leftOut);
  return cacheControl === undefined ? read : { ...read, cacheControl };
}

/** Adds what the object around the declaration of the tool asks. Where both ask something, the outer one counts. */
export function withOuterControl(tool: Tool, outer: JsonObject, pointer: string, leftOut: LeftOut): Tool {
  const around = cacheControlIn(outer, pointer, leftOut);
  if (around === undefined) return tool;
  const { cacheControl: inside } = tool;
  if (inside !== undefined && !isSameTime(inside, around)) leftOut.add(inside.pointer);
  return { ...tool, cacheControl: around };
}

/** Adds what is asked directly after the part. Null if the part can have nothing, or asks something else itself. */
export function withLaterControl<Kept extends Part>(part: Kept | undefined, later: CacheControl): Kept | null {
  if (part === undefined || part.kind === 'reasoning') return null;
  const { cacheControl } = part;
  if (cacheControl === undefined) return { ...part, cacheControl: later };
  return isSameTime(cacheControl, later) ? part : null;
}

export function isSameTime(one: CacheControl, other: CacheControl): boolean {
  return isForAnHour(one) === isForAnHour(other);
}

/**
 * The last part gets what the message asks: LiteLLM's clients and the AI SDK's provider for compatible APIs write it
 * there (https://docs.litellm.ai/docs/completion/prompt_caching).
 */
export function withMessageControl<Kept extends Part>(
  parts: ReadonlyArray<Kept>,
  message: JsonObject,
  pointer: string,
  leftOut: LeftOut,
): ReadonlyArray<Kept> {
  const cacheControl = cacheControlIn(message, pointer, leftOut);
  if (cacheControl === undefined) return parts;
  const last = withLaterControl(parts.at(-1), cacheControl);
  if (last === null) leftOut.add(cacheControl.pointer);
  return last === null ? parts : [...parts.slice(0, -1), last];
}

/** Leaves cache controls out for a target that keeps prompts of itself. */
export function leaveOutCacheControl(conversation: Conversation, ignored: Set<string>): void {
  const { cacheControl, system, turns, tools } = conversation;
  if (cacheControl !== undefined) ignored.add(cacheControl.pointer);
  addPlaces(tools, ignored);
  addPlaces(system, ignored);
  for (const { parts } of turns) addPlaces(parts, ignored);
}

function addPlaces(asking: ReadonlyArray<Cacheable | Part>, ignored: Set<string>): void {
  for (const each of asking) {
    if ('cacheControl' in each && each.cacheControl !== undefined) ignored.add(each.cacheControl.pointer);
    if ('kind' in each && each.kind === 'tool-result') addPlaces(each.parts, ignored);
  }
}
