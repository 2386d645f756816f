import * as E from 'fp-ts/lib/Either.js';
import type { StreamWriter } from '#application/streams/stream-writer.ts';
import { newEvent } from '#domain/shared/event.ts';
import { webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { chance } from '#shared/chance.ts';
import { errorText } from '#shared/logging/logged-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { DisabledByAnswers } from '#webhooks/delivery/queue/endpoint-queue.ts';

export interface DisableDependencies {
  readonly writer: Pick<StreamWriter, 'write'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

const system = { keyId: 'system', keyType: 'system' };
const retryMs = 5_000;

const messages = {
  failing: 'A webhook endpoint is disabled: every try has failed for three days',
  gone: 'A webhook endpoint is disabled: its receiver has answered 410 and wants no more messages',
} as const;

/** Retries until it succeeds or the signal aborts. */
export async function disableEndpoint(
  { writer, log }: DisableDependencies,
  id: string,
  reason: DisabledByAnswers,
  signal: AbortSignal,
): Promise<void> {
  log.info({ webhookEndpoint: id }, messages[reason]);
  const requestId = chance.randomUuid();
  const origin = { actor: system, requestId, correlationId: requestId, causationId: requestId };
  const disable = () =>
    writer.write({
      entity: webhookEndpoint,
      id,
      origin,
      decide: ({ state }) => {
        const isDone = state === null || state.deleted || state.record.status === 'disabled';
        const event = newEvent('WebhookEndpointDisabled', { id, reason });
        return E.right({ events: isDone ? [] : [event], tenant: null });
      },
    });
  while (!signal.aborted) {
    try {
      const written = await disable();
      if (E.isRight(written)) return;
      log.warn({ webhookEndpoint: id, reason: written.left.detail }, notDisabled);
    } catch (error) {
      log.warn({ webhookEndpoint: id, error: errorText(error) }, notDisabled);
    }
    await delay(retryMs, signal);
  }
}

const notDisabled = 'A webhook endpoint could not be disabled; the node tries again';
