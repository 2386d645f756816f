import type { FailureTexts } from '#domain/shared/failure.ts';

/** Failures when the project has its share, or the node is full. */
export const admissionFailures = {
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    solution: 'Wait for `Retry-After`, or ask the operator for a higher `REQUESTS_PER_MINUTE`.',
  },
  'too-many-calls': {
    status: 429,
    title: 'Too many calls at once',
    solution: 'Send fewer requests at once, and repeat this one after `Retry-After`.',
  },
  'too-many-feeds': {
    status: 429,
    title: 'Too many live feeds at once',
    solution: 'Close a live feed before another `GET /v1/events`.',
  },
  'too-many-body-bytes': {
    status: 429,
    title: 'Too many bytes in bodies at once',
    solution: 'Wait for running requests with large bodies before the next one.',
  },
  'too-many-answer-bytes': {
    status: 429,
    title: 'Too many bytes in answers that are not read yet',
    solution: 'Read the answers that are open before the next request.',
  },
  'too-many-spool-bytes': {
    status: 429,
    title: 'Too many bytes in uploads at once',
    solution: 'Wait for running uploads before the next `POST /v1/files`.',
  },
  'bodies-full': {
    status: 503,
    title: 'The node has no room for more bodies',
    solution: 'Send the request to another node, or again after `Retry-After`: this one has no room for bodies.',
  },
  'answers-full': {
    status: 503,
    title: 'The node has no room for more answers',
    solution: 'Send the request to another node, or again after `Retry-After`: this one has no room for answers.',
  },
  'connections-full': {
    status: 503,
    title: 'The node has no connection left',
    solution: 'Send the request to another node, or again after `Retry-After`: this one has no connection left.',
  },
  'spool-full': {
    status: 503,
    title: 'The node has no room for more uploads',
    solution: 'Upload to another node, or again after `Retry-After`: the folder `SPOOL_DIR` is full.',
  },
  'feeds-full': {
    status: 503,
    title: 'The node has no room for more live feeds',
    solution: 'Follow the feed from another node, or ask the operator for a higher `MAX_LIVE_FEEDS`.',
  },
} as const satisfies FailureTexts;
