import configuration from '#examples/demo/gateway.json' with { type: 'json' };
import type { CallingKey } from '#examples/demo/partner.ts';
import type { Price } from '#gateway/config/configuration.ts';
import type { Consumption } from '#gateway/neutral/consumption.ts';
import { type AttemptRecord, type CallRecord, costOf } from '#gateway/relay/call-record.ts';
import { failureName } from '#gateway/response/error-response.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The times, in ms before the end of the month, in which the provider `offline` did not answer. */
const outages = [
  { from: 6 * dayMs + 5 * hourMs, until: 6 * dayMs + 2 * hourMs },
  { from: 40 * 60_000, until: 0 },
];

/** A kind of call, with its share of all calls. */
interface KindOfCall {
  readonly operation: CallRecord['operation'];
  readonly model: string;
  readonly target: string;
  /** Answers when the first target does not. */
  readonly fallback: string | null;
  readonly share: number;
  readonly price: Partial<Price>;
  /** Usual times in ms: until the first content, and for the rest of the answer. */
  readonly firstContentMs: number;
  readonly restMs: number;
}

const { models, voices } = configuration;

const kinds: readonly [KindOfCall, ...KindOfCall[]] = [
  chat('assistant', 0.52, 'sandbox/assistant', null, 430, 1_900),
  chat('quick', 0.25, 'sandbox/quick', null, 190, 600),
  chat('steady', 0.13, 'offline/steady', 'sandbox/steady', 620, 2_600),
  {
    ...{ operation: 'speech', model: 'narrator', target: 'sandbox/speaker', fallback: null, share: 0.07 },
    ...{ price: voices.narrator.price, firstContentMs: 260, restMs: 900 },
  },
  {
    ...{ operation: 'transcription', model: 'scribe', target: 'sandbox/scribe', fallback: null, share: 0.03 },
    ...{ price: models.scribe.price, firstContentMs: 800, restMs: 10 },
  },
];

function chat(
  model: 'assistant' | 'quick' | 'steady',
  share: number,
  target: string,
  fallback: string | null,
  firstContentMs: number,
  restMs: number,
): KindOfCall {
  return { operation: 'chat', model, target, fallback, share, price: models[model].price, firstContentMs, restMs };
}

interface End {
  readonly outcome: CallRecord['outcome'];
  readonly share: number;
  readonly error: string | null;
}

/** How calls end, with their share of all. */
const ends: readonly [End, ...End[]] = [
  { outcome: 'served', share: 0.98, error: null },
  { outcome: 'refused', share: 0.008, error: 'invalid_request_error' },
  { outcome: 'failed', share: 0.005, error: 'server_error' },
  { outcome: 'broken-off', share: 0.003, error: 'server_error' },
  { outcome: 'client-gone', share: 0.004, error: null },
];

/** @param at when it began, in ms since 1970 @param monthEnd the end of the month, in ms since 1970 */
export function inventCall(key: CallingKey, at: number, monthEnd: number): CallRecord {
  const { keyId, organizationId, projectId, partnerId } = key;
  const kind = draw(kinds);
  const { outcome, error } = draw(ends);
  const isDown = kind.fallback !== null && isOutage(monthEnd - at);
  const target = isDown ? (kind.fallback ?? kind.target) : kind.target;
  const firstContentMs = Math.round(kind.firstContentMs * spread());
  const totalMs = firstContentMs + Math.round(kind.restMs * spread());
  const consumption = outcome === 'served' ? consumptionOf(kind.operation) : nothingUsed;
  return {
    ...{ keyId, organizationId, projectId, partnerId },
    ...consumption,
    operation: kind.operation,
    requestId: '',
    batchId: null,
    model: kind.model,
    target,
    provider: target.split('/')[0] ?? null,
    streamed: kind.operation === 'chat',
    outcome,
    errorCode: error,
    reason: error,
    attempts: [...(isDown ? [attempt(kind.target, unreachable, 1)] : []), attempt(target, error, totalMs)],
    headersMs: Math.round(firstContentMs * 0.8),
    firstContentMs,
    totalMs,
    endedAt: at + totalMs,
    cost: costOf(consumption, { ...free, ...kind.price }),
    brokenAttempts: [],
  };
}

function isOutage(agoMs: number): boolean {
  return outages.some(({ from, until }) => agoMs <= from && agoMs > until);
}

const unreachable = failureName({ kind: 'broken', how: 'unreachable' });

function attempt(target: string, errorType: string | null, durationMs: number): AttemptRecord {
  const result = errorType === null ? 'served' : 'failed';
  return { target, result, status: null, errorType, reason: errorType, startMs: 0, durationMs };
}

const free: Price = {
  inputPerMillion: 0,
  outputPerMillion: 0,
  cachedInputPerMillion: undefined,
  cacheWritePerMillion: undefined,
  cacheWriteHourPerMillion: undefined,
  perMillionCharacters: undefined,
  perMinute: undefined,
};

const nothingUsed: Consumption = { tokens: null, characters: null, audioSeconds: null };

function consumptionOf(operation: CallRecord['operation']): Consumption {
  switch (operation) {
    case 'speech':
      return { ...nothingUsed, characters: Math.round(180 * spread()) };
    case 'embeddings':
      return { ...nothingUsed, tokens: { input: Math.round(90 * spread()), output: 0 } };
    case 'transcription':
      return { ...nothingUsed, audioSeconds: Math.round(20 * spread()) };
    default:
      return {
        ...nothingUsed,
        tokens: { input: Math.round(700 * spread()), output: Math.round(140 * spread()) },
      };
  }
}

/** Draws each item as often as its share says. */
function draw<Item extends { readonly share: number }>(items: readonly [Item, ...Item[]]): Item {
  let left = Math.random();
  for (const item of items) {
    left -= item.share;
    if (left < 0) return item;
  }
  return items[0];
}

/** A factor around 1 with a long tail upwards, as latencies have it: a log-normal distribution. */
function spread(): number {
  const normal = Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
  return Math.exp(0.4 * normal);
}
