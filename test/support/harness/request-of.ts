import { maxPageBytes } from '#application/operations/paging.ts';
import { MemoryBody } from '#exchange/body.ts';
import { ByteBudget } from '#exchange/byte-budget.ts';
import { MemoryResponse } from '#exchange/client.ts';
import { Held } from '#exchange/held.ts';
import type { Authorised } from '#exchange/request.ts';
import { callerOf } from '#test/support/events/tenants.ts';

const maxAnswerBytes = 1_000_000;

/** Makes a request in memory, by default an admin's without a body. */
export function requestOf(given: Partial<Authorised> = {}): Authorised {
  const caller = given.caller ?? callerOf('admin');
  const answers = new ByteBudget({ maxBytes: maxAnswerBytes, maxBytesPerProject: maxAnswerBytes });
  return {
    id: 'request',
    startedAt: performance.now(),
    operation: 'operation',
    target: 'GET /v1/flows',
    maxPageBytes,
    parameters: {},
    query: '',
    headers: {},
    body: new MemoryBody(Buffer.alloc(0)),
    client: new MemoryResponse(maxAnswerBytes, answers.hold(caller.projectId)),
    held: new Held(caller.projectId),
    ...given,
    caller,
  };
}
