import { randomUUID } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type { StreamWriter } from '#application/commands/stream-writer.ts';
import { newEvent } from '#domain/shared/event.ts';
import { webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import { delay } from '#shared/async/delay.ts';
import type { Logger } from '#shared/logging/logger.ts';

export interface DisableDependencies {
  readonly writer: Pick<StreamWriter, 'write'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

const system = { keyId: 'system', keyType: 'system' };
const retryMs = 5_000;

/** Records that an endpoint is disabled, because all tries have failed; until that has succeeded, or the signal aborts. */
export async function disableFailingEndpoint(
  { writer, log }: DisableDependencies,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  log.info({ webhookEndpoint: id }, 'A webhook endpoint is disabled: every try has failed for three days');
  const requestId = randomUUID();
  const origin = { actor: system, requestId, correlationId: requestId, causationId: requestId };
  const disable = () =>
    writer.write({
      entity: webhookEndpoint,
      id,
      origin,
      decide: ({ state }) => {
        const isDone = state === null || state.deleted || state.record.status === 'disabled';
        const event = newEvent('WebhookEndpointDisabled', { id, reason: 'failing' as const });
        return E.right({ events: isDone ? [] : [event], tenant: null });
      },
    });
  while (!signal.aborted) {
    try {
      const written = await disable();
      if (E.isRight(written)) return;
      log.warn({ webhookEndpoint: id, reason: written.left.detail }, cannot);
    } catch (error) {
      log.warn({ webhookEndpoint: id, error: String(error) }, cannot);
    }
    await delay(retryMs, signal);
  }
}

const cannot = 'A webhook endpoint could not be disabled just now';
