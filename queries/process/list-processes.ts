import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { eventFailureCodec } from '#domain/event-failure.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

/** `waiting` means for a read model or a store, `stopped` means after a failure. */
export const ProcessState = enumeration('ProcessState', 'running', 'waiting', 'stopped');

const Input = t.type({});
const Process = t.type(
  {
    name: text(),
    state: ProcessState,
    /** It has reacted to every event of its types up to this position. */
    position: t.number,
    failure: nullable(eventFailureCodec),
    /** The read model for which it waits, or what is unavailable; null if it does not wait. */
    waitingFor: nullable(text()),
  },
  'Process',
);
const Output = t.type(
  {
    processes: t.readonlyArray(Process),
    /** The end of the log; null if the event store does not answer in time. */
    logEnd: nullable(t.number),
  },
  'ProcessList',
);

export const listProcesses = query<
  t.TypeOf<typeof Input>,
  Tenant,
  t.TypeOf<typeof Output>,
  never,
  'processStatus' | 'lastPosition'
>({
  about: {
    name: 'list_processes',
    summary: 'List the processes with their status',
    description: 'The position of each process, the event at which it has stopped, and what it waits for.',
    group: 'Operations',
    example: {
      output: {
        processes: [
          { name: 'detach-phone-numbers', state: 'running', position: 5120, failure: null, waitingFor: null },
        ],
        logEnd: 5120,
      },
    },
  },
  http: get('/v1/processes'),
  access: { scope: 'operations:write', subject: null },
  input: Input,
  output: Output,
  failures: [],
  reads: {},
  services: ['processStatus', 'lastPosition'],
  answer: async (_, { processStatus, lastPosition }) => {
    const [logEnd, processes] = await Promise.all([lastPosition(), processStatus()]);
    return E.right({ body: { processes, logEnd } });
  },
});
