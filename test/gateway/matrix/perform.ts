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
  const { provider, manner, clientHasHead } = actor;
  const isStreamed = body.stream === true;
  switch (act.kind) {
    case 'says':
      if (isStreamed) sendEvents(res, Object.values(manner.stream(act.said)).flat());
      else sendJson(res, manner.whole(act.said));
      return;
    case 'refuses':
      sendJson(res, provider.refusal(act.fault), statuses[act.fault]);
      return;
    case 'fails': {
      const { start, content } = manner.stream(begun);
      await write(res, act.after === 'nothing' ? [] : act.after === 'silence' ? start : [...start, ...content]);
      if (act.after !== 'nothing') await clientHasHead;
      res.end(provider.errorEvent(act.fault));
      return;
    }
    case 'breaks': {
      const { start, content } = manner.stream(begun);
      if (isStreamed) await write(res, [...start, ...content]);
      else await writePart(res, JSON.stringify(manner.whole(begun)));
      if (isStreamed) await clientHasHead;
      res.destroy();
    }
  }
}

async function write(res: ServerResponse, events: ReadonlyArray<string>): Promise<void> {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) await new Promise((resolve) => res.write(event, resolve));
}

/** Writes all of a whole answer but its end. */
async function writePart(res: ServerResponse, answer: string): Promise<void> {
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) });
  await new Promise((resolve) => res.write(answer.slice(0, -10), resolve));
}
