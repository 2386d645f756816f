import * as E from 'fp-ts/lib/Either.js';
import {
  joinTurns,
  type Part,
  type ToolCallPart,
  type ToolResultPart,
  type Turn,
  type Unsupported,
} from './conversation.ts';

/** A call with an id that no other call has, and the results that belong to it. */
interface PairedCall {
  readonly call: ToolCallPart;
  readonly results: ToolResultPart[];
}

/**
 * Puts results of tools where providers need them: directly after the turn with their calls, in the order of the calls,
 * and before all that stood between (https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use,
 * https://platform.openai.com/docs/guides/function-calling). Each id is then that of one call, and several results of
 * one call are one. The cost is linear.
 * @returns the place of a call without a result, or of a result without a call, which every provider refuses
 */
export function pairCalls(turns: ReadonlyArray<Turn>): E.Either<Unsupported, ReadonlyArray<Turn>> {
  const parts = turns.flatMap((turn) => turn.parts);
  const paired = pairedCalls(parts);
  const lonely = giveResults(parts, paired) ?? [...paired.values()].find(({ results }) => results.length === 0)?.call;
  return lonely === undefined
    ? E.right(joinTurns(turns.flatMap((turn) => placed(turn, paired))))
    : E.left(alone(lonely));
}

function pairedCalls(parts: ReadonlyArray<Part>): ReadonlyMap<ToolCallPart, PairedCall> {
  const ids = new UniqueIds();
  const calls = parts.filter((part) => part.kind === 'tool-call');
  return new Map(calls.map((call) => [call, { call: { ...call, id: ids.next(call.id) }, results: [] }]));
}

/**
 * Gives each result to its call. Calls may have the same id, because some providers count theirs from 0 in each answer:
 * the first result of an id then belongs to its first call.
 * @returns a result without a call
 */
function giveResults(
  parts: ReadonlyArray<Part>,
  paired: ReadonlyMap<ToolCallPart, PairedCall>,
): ToolResultPart | undefined {
  const pairsById = Map.groupBy(paired, ([{ id }]) => id);
  const given = new Map<string, number>();
  for (const part of parts) {
    if (part.kind !== 'tool-result') continue;
    const ofId = pairsById.get(part.callId) ?? [];
    const count = given.get(part.callId) ?? 0;
    const [, pair] = ofId[Math.min(count, ofId.length - 1)] ?? [];
    if (pair === undefined) return part;
    pair.results.push(part);
    given.set(part.callId, count + 1);
  }
  return undefined;
}

/** A turn without results, and after it those of its calls. */
function placed({ role, parts }: Turn, paired: ReadonlyMap<ToolCallPart, PairedCall>): ReadonlyArray<Turn> {
  const results: ToolResultPart[] = [];
  const said = parts.flatMap((part): ReadonlyArray<Part> => {
    if (part.kind === 'tool-result') return [];
    const pair = part.kind === 'tool-call' ? paired.get(part) : undefined;
    if (pair === undefined) return [part];
    results.push(joinedResult(pair));
    return [pair.call];
  });
  const turn = { role, parts: said };
  return results.length === 0 ? (said.length === 0 ? [] : [turn]) : [turn, { role: 'user', parts: results }];
}

function joinedResult({ call, results }: PairedCall): ToolResultPart {
  const [first] = results as [ToolResultPart];
  const parts = results.flatMap((result) => result.parts);
  return { ...first, callId: call.id, isError: results.some(({ isError }) => isError), parts };
}

function alone({ kind, pointer }: ToolCallPart | ToolResultPart): Unsupported {
  const message =
    kind === 'tool-call'
      ? 'this call of a tool has no result in the conversation: send one, or leave the call out'
      : 'this result of a tool has no call in the conversation: send the call, or leave the result out';
  return { pointer, message };
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
