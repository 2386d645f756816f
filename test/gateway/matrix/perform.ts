import type { ServerResponse } from 'node:http';
import { type Answer, sendEvents, sendJson } from '#test/gateway/support/strict-provider.ts';
import { type Act, type Said, statuses } from './exchange.ts';
import type { Manner, MatrixProvider } from './providers/matrix-provider.ts';

/** Who does what is in a script. */
interface Actor {
  readonly provider: MatrixProvider;
  readonly manner: Manner;
  /** Resolves when the client has the head of its answer. */
  readonly clientHasHead: Promise<unknown>;
}

/** A text that an error follows. */
export const begun: Said = { thought: '', text: 'Monday 9', calls: [], reason: 'stop' };

/** Does what a script says with a request. */
export async function perform(act: Act, actor: Actor, [res, body]: Parameters<Answer>): Promise<void> {
  if (act.kind === 'refuses') sendJson(res, actor.provider.refusal(act.fault), statuses[act.fault]);
  else if (body.stream === true) await performStreamed(act, actor, res);
  else performWhole(act, actor, res);
}

function performWhole(act: Act, { manner }: Actor, res: ServerResponse): void {
  const answer = manner.whole('said' in act ? act.said : begun);
  if (act.kind !== 'breaks') {
    sendJson(res, answer);
    return;
  }
  const text = JSON.stringify(answer);
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  res.write(text.slice(0, -10), () => res.destroy());
}

/** An error follows when the client has what was before it, because else they may come together. */
async function performStreamed(
  act: Act,
  { provider, manner, clientHasHead }: Actor,
  res: ServerResponse,
): Promise<void> {
  const { start, content, end } = manner.stream('said' in act ? act.said : begun);
  switch (act.kind) {
    case 'says':
      return sendEvents(res, [...start, ...content, ...end]);
    case 'pauses':
      await write(res, start);
      await clientHasHead;
      res.end([...content, ...end].join(''));
      return;
    case 'garbles':
      await write(res, [...start, ...content]);
      await clientHasHead;
      return void res.end(end.join(''));
    case 'breaks':
      await write(res, [...start, ...content]);
      await clientHasHead;
      return void res.destroy();
    case 'fails':
      await write(res, act.after === 'nothing' ? [] : act.after === 'silence' ? start : [...start, ...content]);
      if (act.after !== 'nothing') await clientHasHead;
      return void res.end(provider.errorEvent(act.fault));
  }
}

async function write(res: ServerResponse, events: ReadonlyArray<string>): Promise<void> {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) await new Promise((resolve) => res.write(event, resolve));
}
