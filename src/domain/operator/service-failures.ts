import type { FailureTexts } from '#domain/shared/failure.ts';

/** Failures of the service, whatever the operation: of its stores, its disk, its read models. */
export const serviceFailures = {
  'read-only': {
    status: 503,
    title: 'This service is read only',
    solution: 'Send the change to the live service: this one shows a past moment.',
  },
  'position-beyond-log': {
    status: 422,
    title: 'The log ends before this position',
    solution: 'Send a `Switchyard-Min-Position` of this service: a copy or another log has other positions.',
  },
  'internal-error': {
    status: 500,
    title: 'Switchyard failed',
    solution: 'Give the operator the `requestId`: the log has the cause under it.',
  },
  unavailable: {
    status: 503,
    title: 'Switchyard cannot answer just now',
    solution: 'Send the request again after `Retry-After`; `GET /readyz` shows what is missing.',
  },
  'log-changed': {
    status: 503,
    title: 'The event store no longer has what was read from it',
    solution: 'Send the request again after `Retry-After`; if it stays, tell the operator: `GET /readyz` says where.',
  },
  'stream-unreadable': {
    status: 503,
    title: 'The events of the resource cannot all be read',
    solution:
      'Tell the operator, who must act: `detail` names the event that this release cannot read, or the events that are missing.',
  },
  'disk-full': {
    status: 503,
    title: 'The disk has too little free space',
    solution: 'Ask the operator to free space on the disk of the data.',
  },
  'read-model-behind': {
    status: 503,
    title: 'The read model has not caught up',
    solution: 'Send the query again: the read model has not yet reached the `Switchyard-Min-Position`.',
  },
} as const satisfies FailureTexts;
