import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import type { AnyCommand } from '#application/commands/command.ts';
import { commands } from '#commands/table.ts';
import { deleteWebhookEndpoint } from '#commands/webhook-endpoint/delete-webhook-endpoint.ts';
import { replayWebhookEndpoint } from '#commands/webhook-endpoint/replay-webhook-endpoint.ts';
import { rotateWebhookSecret } from '#commands/webhook-endpoint/rotate-webhook-secret.ts';
import { testWebhookEndpoint } from '#commands/webhook-endpoint/test-webhook-endpoint.ts';
import { updateWebhookEndpoint } from '#commands/webhook-endpoint/update-webhook-endpoint.ts';
import { checkScopes, type KeyType } from '#domain/shared/access.ts';
import { webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import { callerOf, ids } from '#test/support/events/tenants.ts';
import { secondSealed, webhookEndpointCreated } from '#test/support/events/webhook-events.ts';
import { decidedAt } from '#test/support/harness/command-harness.ts';
import { foldEvents } from '#test/support/harness/recorded-events.ts';

const input = { webhookEndpointId: ids.webhookEndpoint };

describe('checkMayChange', () => {
  const changes: ReadonlyArray<readonly [AnyCommand, object]> = [
    [updateWebhookEndpoint, { status: 'disabled' }],
    [rotateWebhookSecret, {}],
    [testWebhookEndpoint, {}],
    [replayWebhookEndpoint, { after: 0 }],
    [deleteWebhookEndpoint, {}],
  ];
  const audiences = ['project', 'organization', 'partner'] as const;
  const ranks: ReadonlyArray<KeyType> = [...audiences, 'admin'];
  const isRefused = (command: AnyCommand, more: object, keyType: KeyType, audience: (typeof audiences)[number]) => {
    const { state } = foldEvents(webhookEndpoint, [webhookEndpointCreated({ audience })]);
    const related = command.about.name === 'rotate_webhook_secret' ? { secret: secondSealed } : null;
    const context = { caller: callerOf(keyType), related, time: decidedAt } as never;
    const decided = command.decide({ ...input, ...more }, state, context);
    return E.isLeft(decided) && decided.left.code === 'key-type-not-allowed';
  };

  for (const [command, more] of changes) {
    it(`refuses ${command.about.name} to a key with access to less than the endpoint receives`, () => {
      for (const [rank, keyType] of ranks.entries()) {
        for (const [audienceRank, audience] of audiences.entries()) {
          assert.equal(isRefused(command, more, keyType, audience), rank < audienceRank, `${keyType}, ${audience}`);
        }
      }
    });
  }
});

describe('scopes of webhook commands', () => {
  it('requires audit:read to create, change or replay an endpoint', () => {
    const caller = callerOf('project', { scopes: ['webhooks:write'] });
    const refused = commands.filter(
      (each) => each.about.group === 'Webhooks' && checkScopes(caller, each.access) !== null,
    );
    assert.deepEqual(
      refused.map(({ about }) => about.name),
      ['create_webhook_endpoint', 'update_webhook_endpoint', 'rotate_webhook_secret', 'replay_webhook_endpoint'],
    );
  });
});
