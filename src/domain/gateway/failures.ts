import type { FailureTexts } from '#domain/shared/failure.ts';

export const gatewayFailures = {
  'unsupported-endpoint': {
    status: 404,
    title: 'Switchyard does not serve this path of OpenAI’s API',
    solution: 'Use an endpoint that `detail` names instead.',
  },
  'provider-resource-not-found': {
    status: 404,
    title: 'No such resource at the provider that this key can access',
    solution:
      'Send the content itself, as `detail` says: tenants share the account at a provider, and do not meet there.',
  },
  'model-not-found': {
    status: 404,
    title: 'No such model',
    solution: 'List the models of the gateway with `GET /v1/models`.',
  },
  'unsupported-by-target': {
    status: 422,
    title: 'No target of the model can do what the request asks',
    solution: 'Leave out what `detail` names, or use a model of `GET /v1/models` whose provider has it.',
  },
  'no-provider': {
    status: 502,
    title: 'No provider of the model can do this',
    solution: 'Use a model of `GET /v1/models` that can do this.',
  },
  'provider-failed': {
    status: 502,
    title: 'The provider failed',
    solution: 'Send the call again; `GET /v1/gateway/targets` shows how the provider does.',
  },
  'provider-key-refused': {
    status: 502,
    title: 'The provider refused the key of the gateway',
    solution: 'Ask the operator to put a valid key of the provider into the gateway’s configuration.',
  },
  'provider-reset': {
    status: 502,
    title: 'The connection to the provider broke',
    solution: 'Send the call again: the connection broke before the answer was complete.',
  },
  'provider-malformed': {
    status: 502,
    title: 'The answer of the provider cannot be read',
    solution: 'Report the model to the operator: its provider does not answer as its interface says.',
  },
  'provider-unfinished': {
    status: 502,
    title: 'The provider ended its answer early',
    solution: 'Send the call again, or use `onStreamFailure: continue` in the gateway’s configuration.',
  },
  'provider-too-large': {
    status: 502,
    title: 'The answer of the provider is too large',
    solution: 'Ask for a shorter answer, for example with `max_tokens`.',
  },
  'provider-unreachable': {
    status: 503,
    title: 'The provider cannot be reached',
    solution: 'Ask the operator to check the address of the provider and the network.',
  },
  'provider-overloaded': {
    status: 503,
    title: 'The provider is overloaded or down',
    solution: 'Wait for `Retry-After`, or give the model a second target in the gateway’s configuration.',
  },
  'provider-timeout': {
    status: 504,
    title: 'The provider took too long',
    solution: 'Use a faster model or a stream, or ask the operator for a longer timeout of the provider.',
  },
} as const satisfies FailureTexts;
