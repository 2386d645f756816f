import type { FailureTexts } from '#domain/shared/failure.ts';

export const storedResponseFailures = {
  'response-not-in-background': {
    status: 400,
    title: 'The response is not made in the background',
    solution:
      'Close the connection of its request to end a response; send `background: true` for one that can be cancelled.',
  },
  'response-not-finished': {
    status: 400,
    title: 'The response is not finished',
    solution: 'Repeat `GET /v1/responses/{responseId}` until `status` is neither `queued` nor `in_progress`.',
  },
  'response-not-found': {
    status: 404,
    title: 'No such stored response',
    solution:
      'Send the whole conversation in `input`. A response is stored for 30 days, unless its request says `store: false`; the operator may have set another time.',
  },
  'response-item-not-found': {
    status: 404,
    title: 'No such item of a stored response',
    solution: 'Send the item itself instead of its id.',
  },
  'conversation-too-long': {
    status: 413,
    title: 'The conversation is too long to be continued',
    solution: 'Begin another conversation, with a summary of this one; `detail` has the limit.',
  },
} as const satisfies FailureTexts;
