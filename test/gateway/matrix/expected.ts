import { type Act, type Outcome, parsedOrText, statuses, tokens } from './exchange.ts';
import { begun } from './perform.ts';
import { type Cell, resultsOf } from './play.ts';
import type { Reading, ReadPart } from './providers/matrix-provider.ts';

/** What the client must get of what the provider does. */
export function expectedOutcome(act: Act, { client, provider, isStreamed }: Cell): Outcome {
  switch (act.kind) {
    case 'says': {
      const { calls, ...said } = act.said;
      const got = calls.map(({ id, name, given }) => ({ id, name, given: parsedOrText(given) }));
      return { kind: 'answer', ...said, calls: got, tokens };
    }
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
    case 'breaks':
      return {
        kind: 'error',
        status: isStreamed ? null : 502,
        code: client.errorNames.broken,
        text: isStreamed ? begun.text : '',
      };
  }
}

/** What the last request must say to the provider. @param outcomes what the client got */
export function expectedReading({ row, provider }: Cell, outcomes: ReadonlyArray<Outcome>): Reading {
  const { system, content, tools, schema } = row.question;
  const before = outcomes.slice(0, -1).flatMap((outcome) => returned(outcome, provider.getsThoughts));
  return { system, parts: [...content, ...before], tools, schema };
}

/** What the client sends back of an answer, with the results of its calls. */
function returned(outcome: Outcome, getsThoughts: boolean): ReadonlyArray<ReadPart> {
  if (outcome.kind !== 'answer') return [];
  const { thought, text, calls } = outcome;
  return [
    ...(thought === '' || !getsThoughts ? [] : [{ kind: 'thought', text: thought } as const]),
    ...(text === '' ? [] : [{ kind: 'said', text } as const]),
    ...calls.map((call) => ({ kind: 'call', ...call }) as const),
    ...Array.from(resultsOf(outcome), ([id, result]) => ({ kind: 'result', id, text: result }) as const),
  ];
}

/** Whether the gateway must name something that it leaves out: the thoughts of the turns before. */
export function losesThoughts({ row, client, provider }: Cell): boolean {
  return row.question.thinks && !provider.getsThoughts && client.protocol !== provider.protocol;
}
