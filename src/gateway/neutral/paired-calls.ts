import { isDeepStrictEqual } from 'node:util';
import { joinTurns, type Part, type ToolCallPart, type ToolResultPart, type Turn } from './conversation.ts';

/**
 * Results of tools go where providers need them: directly after the turn with their calls, in the order of the calls,
 * and before all that stood between (https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use,
 * https://platform.openai.com/docs/guides/function-calling). Each id is then that of one call, and several results of
 * one call are one. A call without a result and a result without a call stay where they are. The cost is linear.
 */
export function pairCalls(turns: ReadonlyArray<Turn>): ReadonlyArray<Turn> {
  const pairs = new Pairs(turns);
  return joinTurns(turns.flatMap((turn) => pairs.placed(turn)));
}

/** A call with an id that no other call has, and the results that belong to it. */
interface PairedCall {
  readonly call: ToolCallPart;
  readonly results: ToolResultPart[];
}

class Pairs {
  readonly #byCall = new Map<ToolCallPart, PairedCall>();
  readonly #byId = new Map<string, CallsOfId>();

  constructor(turns: ReadonlyArray<Turn>) {
    const ids = new UniqueIds();
    for (const [index, { parts }] of turns.entries())
      for (const part of parts)
        if (part.kind === 'tool-call') this.#add({ ...part, id: ids.next(part.id) }, part, index);
    for (const [index, { parts }] of turns.entries())
      for (const part of parts) if (part.kind === 'tool-result') this.#byId.get(part.callId)?.give(part, index);
  }

  #add(call: ToolCallPart, asSent: ToolCallPart, turn: number): void {
    const pair = { call, results: [] };
    this.#byCall.set(asSent, pair);
    const ofId = this.#byId.get(asSent.id) ?? new CallsOfId();
    this.#byId.set(asSent.id, ofId);
    ofId.add(pair, turn);
  }

  /** The turn without the results that have a call, and followed by those of its own calls. */
  placed({ role, parts }: Turn): ReadonlyArray<Turn> {
    const results: ToolResultPart[] = [];
    const said = parts.flatMap((part): ReadonlyArray<Part> => {
      if (part.kind === 'tool-result') return this.#byId.has(part.callId) ? [] : [part];
      const pair = part.kind === 'tool-call' ? this.#byCall.get(part) : undefined;
      if (pair === undefined) return [part];
      results.push(...joinedResult(pair));
      return [pair.call];
    });
    const turn = parts.length > 0 && said.length === 0 ? [] : [{ role, parts: said }];
    return results.length === 0 ? turn : [...turn, { role: 'user', parts: results }];
  }
}

/** The calls of one id, by their turns: some providers count their calls from 0 in each answer. */
class CallsOfId {
  readonly #turns: { readonly index: number; readonly pairs: PairedCall[]; given: number }[] = [];
  #latest = 0;

  add(pair: PairedCall, index: number): void {
    const last = this.#turns.at(-1);
    if (last?.index === index) last.pairs.push(pair);
    else this.#turns.push({ index, pairs: [pair], given: 0 });
  }

  /**
   * Gives a result to the latest call before it, or to the first one after it. Of several calls in one turn each gets
   * one. Results come in the order of the conversation. One that comes again is left out.
   */
  give(result: ToolResultPart, index: number): void {
    while ((this.#turns[this.#latest + 1]?.index ?? index) < index) this.#latest += 1;
    const turn = this.#turns[this.#latest] as { readonly pairs: PairedCall[]; given: number };
    const { results } = turn.pairs[Math.min(turn.given, turn.pairs.length - 1)] as PairedCall;
    turn.given += 1;
    const before = results.at(-1);
    if (before === undefined || !isSame(before, result)) results.push(result);
    else if (result.cacheControl !== undefined) results[results.length - 1] = result;
  }
}

function isSame(one: ToolResultPart, other: ToolResultPart): boolean {
  return one.isError === other.isError && isDeepStrictEqual(one.parts.map(contentOf), other.parts.map(contentOf));
}

function contentOf(part: ToolResultPart['parts'][number]): unknown {
  return part.kind === 'text' ? part.text : part.source;
}

function joinedResult({ call, results }: PairedCall): ReadonlyArray<ToolResultPart> {
  const [first] = results;
  if (first === undefined) return [];
  const parts = results.flatMap((result) => result.parts);
  const isError = results.some((result) => result.isError);
  const { cacheControl } = results.findLast((result) => result.cacheControl !== undefined) ?? {};
  return [{ ...first, callId: call.id, isError, parts, ...(cacheControl === undefined ? {} : { cacheControl }) }];
}

/** Gives ids that come again, and empty ones, a number. */
class UniqueIds {
  readonly #taken = new Set<string>();
  readonly #numbers = new Map<string, number>();

  next(id: string): string {
    let unique = id;
    let number = this.#numbers.get(id) ?? 1;
    while (unique === '' || this.#taken.has(unique)) {
      number += 1;
      unique = `${id === '' ? 'call' : id}_${number}`;
    }
    this.#numbers.set(id, number);
    this.#taken.add(unique);
    return unique;
  }
}
