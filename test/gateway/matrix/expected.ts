import type { CallOutcome } from '#domain/usage/recorded-call.ts';
import { isObject } from '#test/gateway/support/strict-provider.ts';
import {
  type Act,
  type Asked,
  type Cacheable,
  type GotCall,
  type Outcome,
  parsedOrText,
  type Question,
  type SaidCall,
  statuses,
  type Tool,
  tokens,
} from './exchange.ts';
import { begun } from './perform.ts';
import { type Cell, resultsOf, targetNames } from './play.ts';
import type { Manner, Reading, ReadPart } from './providers/matrix-provider.ts';
import type { Row } from './rows.ts';

/** What the client must get of what the provider does. */
export function expectedOutcome(act: Act, { row, client, provider, isStreamed }: Cell): Outcome {
  const ownError = (code: string, text: string): Outcome => ({
    kind: 'error',
    status: isStreamed ? null : 502,
    code: client.errorNames[code] ?? code,
    text: isStreamed ? text : '',
  });
  switch (act.kind) {
    case 'says':
    case 'pauses': {
      const { calls, ...said } = act.said;
      const got = calls.filter(isWhole).map((call) => gotCall(call, row.question));
      return { kind: 'answer', ...said, calls: got, tokens };
    }
    case 'garbles':
      return ownError('provider_malformed', act.said.text);
    case 'breaks':
      return ownError('provider_reset', begun.text);
    case 'refuses':
    case 'fails': {
      const isInside = act.kind === 'fails' && act.after !== 'nothing';
      return {
        kind: 'error',
        status: isInside ? null : statuses[act.fault],
        code: client.errorNames[act.fault] ?? provider.errorNames[act.fault],
        text: act.kind === 'fails' && act.after === 'text' ? begun.text : '',
      };
    }
  }
}

function gotCall({ id, name, given }: SaidCall, { tools }: Question): GotCall {
  const namespace = tools.find((tool) => tool.name === name)?.namespace;
  return { id, name, ...(namespace === undefined ? {} : { namespace }), given: parsedOrText(given) };
}

function isWhole({ given }: SaidCall): boolean {
  return isObject(parsedOrText(given));
}

/**
 * What the client got, as far as it is certain. A call that is cut off is missing in a whole answer that is translated; a
 * stream has begun it. Of calls to which the provider gives no id, only that each has one of its own counts.
 */
export function certainOutcome(
  got: Outcome,
  act: Act | undefined,
  { client, provider, isStreamed }: Cell,
  hasIds: boolean,
): Outcome {
  if (got.kind === 'error' || act === undefined || !('said' in act)) return got;
  const { calls } = act.said;
  const unfinished = calls.filter((call) => !isWhole(call)).map(({ id }) => id);
  const mayBeThere = isStreamed || client.protocol === provider.protocol;
  const finished = got.calls.filter(({ id }) => !(mayBeThere && unfinished.includes(id)));
  if (hasIds) return { ...got, calls: finished };
  const ids = new Set(finished.map(({ id }) => id));
  const areOwn = ids.size === finished.length && !ids.has('');
  return {
    ...got,
    calls: areOwn ? finished.map((call, index) => ({ ...call, id: calls[index]?.id ?? '' })) : finished,
  };
}

/** How the record of a call ends: with the status that would have been sent, if a head came before it. */
export function recordedAs(act: Act, isStreamed: boolean): CallOutcome {
  switch (act.kind) {
    case 'says':
    case 'pauses':
      return 'served';
    case 'garbles':
    case 'breaks':
      return isStreamed ? 'broken-off' : 'failed';
    case 'refuses':
    case 'fails':
      if (act.kind === 'fails' && act.after === 'text') return 'broken-off';
      return act.fault === 'invalid' ? 'refused' : 'failed';
  }
}

/** What the last request must say to the provider. @param outcomes what the client got */
export function expectedReading(cell: Cell, manner: Manner, outcomes: ReadonlyArray<Outcome>): Reading {
  const { row, client, provider } = cell;
  const { content: said, tools: declared, ...asked } = row.question;
  const [content, tools] = caches(cell) ? [said, declared] : [said.map(withoutCache), declared.map(withoutCache)];
  const getsThoughts = provider.getsThoughts && !manner.mixesThoughts;
  const before = outcomes.slice(0, -1).flatMap((outcome, at) => returned(outcome, row, at, getsThoughts));
  const reading = { ...asked, tools, parts: [...content, ...before] };
  return client.protocol === provider.protocol ? reading : withTargetNames(reading, row);
}

function withTargetNames({ tools, parts, ...reading }: Reading, { question }: Row): Reading {
  const names = targetNames(question);
  type Named = { readonly name: string; readonly namespace?: string };
  const named = <Each extends Named>({ name, namespace: _, ...more }: Each) => ({
    ...more,
    name: names.get(name) ?? name,
  });
  return {
    ...reading,
    tools: tools.map(named),
    parts: parts.map((part) => (part.kind === 'call' ? named(part) : part)),
  };
}

/** What the client sends back of an answer, with the results of its calls. */
function returned(
  outcome: Outcome,
  { saidBeforeResults: said = '', acts }: Row,
  at: number,
  getsThoughts: boolean,
): ReadonlyArray<ReadPart> {
  if (outcome.kind !== 'answer') return [];
  const { thought, text, calls } = outcome;
  return [
    ...(thought === '' || !getsThoughts ? [] : [{ kind: 'thought', text: thought } as const]),
    ...(text === '' ? [] : [{ kind: 'said', text } as const]),
    ...calls.map((call, index) => ({ kind: 'call', ...call, ...stateOf(acts[at], index) }) as const),
    ...Array.from(resultsOf(outcome), ([id, result]) => ({ kind: 'result', id, text: result }) as const),
    ...(said === '' ? [] : [{ kind: 'text', text: said } as const]),
  ];
}

function stateOf(act: Act | undefined, index: number): { readonly state?: string } {
  const state = act !== undefined && 'said' in act ? act.said.calls[index]?.state : undefined;
  return state === undefined ? {} : { state };
}

/** What the client got. Of an id, without the state that may be in it: the provider must get that apart. */
export function withoutState(outcome: Outcome): Outcome {
  if (outcome.kind === 'error') return outcome;
  return { ...outcome, calls: outcome.calls.map((call) => ({ ...call, id: call.id.replace(/~[\w-]+$/, '') })) };
}

/** Whether the gateway must name something that it leaves out: thoughts of the turns before, or what is to be cached. */
export function losesSomething(cell: Cell, { mixesThoughts }: Manner): boolean {
  const { row, client, provider } = cell;
  const losesThoughts = row.question.thinks && !(provider.getsThoughts && !mixesThoughts);
  return client.protocol !== provider.protocol && (losesThoughts || (isCached(row.question) && !caches(cell)));
}

/** Whether the provider is asked to cache a prompt. The others do it of themselves, if at all. */
function caches({ provider }: Cell): boolean {
  return provider.protocol === 'anthropic-messages';
}

function isCached({ content, tools }: Question): boolean {
  return [...content, ...tools].some((each) => 'isCached' in each);
}

/** A part or a tool that does not ask for the cache. */
function withoutCache<Said extends Asked | Tool>(said: Said): Said {
  const { isCached: _, ...rest }: Said & Cacheable = said;
  return rest as unknown as Said;
}
