import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { failure } from '#domain/shared/failure.ts';
import { TargetStatus } from '#domain/usage/gateway-health.ts';
import { integer } from '#shared/codecs/number.ts';

const Output = t.type(
  {
    node: t.string,
    windowSeconds: integer(0, Number.MAX_SAFE_INTEGER),
    targets: t.readonlyArray(TargetStatus),
  },
  'TargetList',
);

export const listTargets = query<object, Tenant, t.TypeOf<typeof Output>, never, 'gatewayHealth'>({
  about: {
    name: 'list_targets',
    summary: 'List the targets of the gateway with their health',
    description:
      'Of each target of the configuration, as the answering node sees it: its circuit, its attempts in the last `windowSeconds`, how many of those that were served or failed were served, how long a served one took, its last failure since the start of the node, and whether its provider has refused the key of the gateway since the last served call. Nodes do not share this: ask each.',
    group: 'Gateway',
    example: {
      output: {
        node: 'switchyard-1',
        windowSeconds: 300,
        targets: [
          {
            target: 'openai/gpt-4.1',
            provider: 'openai',
            model: 'gpt-4.1',
            servesModels: ['gpt-large'],
            circuit: 'open',
            attempts: { served: 95, refused: 1, failed: 5, abandoned: 0 },
            successRate: 0.95,
            p50Ms: 820.5,
            p95Ms: 2410,
            lastFailure: {
              time: '2026-01-01T12:00:00.000Z',
              code: 'http_500',
              status: 500,
              requestId: '53db8bbd-6f6c-4c43-a4b2-6f4d4d1f6c2e',
            },
            isKeyRefused: false,
          },
        ],
      },
    },
  },
  plane: 'gateway',
  http: get('/v1/gateway/targets'),
  access: { scope: 'operations:write', subject: null },
  input: t.type({}),
  output: Output,
  failures: [],
  reads: {},
  services: ['gatewayHealth'],
  answer: (_, { gatewayHealth }) => {
    const health = gatewayHealth();
    if (health === null) return E.left(withoutGateway);
    const { node, windowSeconds, targets } = health;
    return E.right({ body: { node, windowSeconds, targets } });
  },
});

const withoutGateway = failure('unavailable', 'This node calls no models: ask one with the role gateway.');
