import assert from 'node:assert/strict';
import { ToolNames } from '#gateway/protocols/tool-names.ts';
import type { FakeProvider } from '#test/gateway/support/fake-provider.ts';
import { type Body, isObject } from '#test/gateway/support/strict-provider.ts';
import type { Act, Answered, Outcome, Question } from './exchange.ts';
import type { Begin, MatrixClient } from './matrix-client.ts';
import { perform } from './perform.ts';
import type { Manner, MatrixProvider } from './providers/matrix-provider.ts';
import type { Row } from './rows.ts';

/** A row for a client and a provider, whole or streamed. */
export interface Cell {
  readonly row: Row;
  readonly client: MatrixClient;
  readonly provider: MatrixProvider;
  readonly isStreamed: boolean;
}

/** What happened. */
export interface Played {
  readonly outcomes: ReadonlyArray<Outcome>;
  /** What the provider refused. */
  readonly refusals: ReadonlyArray<string>;
  /** The latest request that the provider got. */
  readonly request: Body;
  /** What each answer names as left out. */
  readonly ignored: ReadonlyArray<string>;
  readonly answerId: string;
}

/** Plays a cell through the gateway. @param at the provider's socket */
export async function play(
  cell: Cell,
  manner: Manner,
  begin: Begin,
  at: FakeProvider,
  gatewayUrl: string,
): Promise<Played> {
  const { row, client, provider, isStreamed } = cell;
  const head = Promise.withResolvers<void>();
  const ignored: string[] = [];
  const acts = row.acts.values();
  const strict = provider.strict((...request) => {
    const act = acts.next().value ?? assert.fail('the gateway sends one request too many');
    return perform(withTargetNames(act, cell), { provider, manner, clientHasHead: head.promise }, request);
  });
  at.answers(strict.behaviour);
  const conversation = begin(client, {
    name: `${client.protocol} at ${provider.protocol}, ${manner.name}, ${isStreamed ? 'streamed' : 'whole'}: ${row.what}`,
    url: gatewayUrl,
    model: row.acts.some(isSilent) ? earlyHeadModel(provider) : provider.protocol,
    isStreamed,
    fetch: async (...request) => {
      const answer = await fetch(...request);
      head.resolve();
      ignored.push(answer.headers.get('x-switchyard-ignored') ?? '');
      return answer;
    },
  });
  const outcomes = [await conversation.ask(row.question)];
  while (outcomes.length < row.acts.length) {
    const latest = outcomes.at(-1);
    if (latest?.kind !== 'answer') break;
    outcomes.push(await conversation.giveResults(resultsOf(latest), row.saidBeforeResults ?? ''));
  }
  const request: unknown = JSON.parse(String(at.seen.at(-1)?.body));
  assert.ok(isObject(request));
  return { outcomes, refusals: strict.refusals, request, ignored, answerId: conversation.answerId };
}

/** The same act, in which calls have the names that the provider knows. */
function withTargetNames(act: Act, { row, client, provider }: Cell): Act {
  if (!('said' in act)) return act;
  const { tools } = row.question;
  const names = targetNames(row.question);
  const isNative = client.protocol === provider.protocol;
  const calls = act.said.calls.map((call) => {
    const namespace = tools.find(({ name }) => name === call.name)?.namespace;
    if (!isNative) return { ...call, name: names.get(call.name) ?? assert.fail(call.name) };
    return namespace === undefined ? call : { ...call, namespace };
  });
  return { ...act, said: { ...act.said, calls } };
}

/** The names that targets of another protocol get, by those in the client's request. */
export function targetNames({ tools }: Question): ReadonlyMap<string, string> {
  const names = new ToolNames();
  return new Map(tools.map(({ namespace = null, name }) => [name, names.nameOf(namespace, name)]));
}

function isSilent(act: Act): boolean {
  return act.kind === 'pauses' || (act.kind === 'fails' && act.after === 'silence');
}

/** The name of a model whose clients get a head soon; that of the others is the protocol of their provider. */
export function earlyHeadModel({ protocol }: MatrixProvider): string {
  return `${protocol}-early-head`;
}

/** The result of each call. */
export function resultsOf({ calls }: Answered): ReadonlyMap<string, string> {
  return new Map(calls.map(({ id, name, given }) => [id, `${name} of ${Object.values(given ?? {})}`]));
}
