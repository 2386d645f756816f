import type { ByteReservation } from '#exchange/byte-budget.ts';
import { Attempt, type AttemptOutcome, attemptTimeouts } from '#gateway/attempt/attempt.ts';
import { type AttemptFailure, noRoom, redactRefusal, tooLarge } from '#gateway/attempt/attempt-failure.ts';
import { Deadline } from '#gateway/attempt/deadline.ts';
import type { ModelRoute, WeightedTarget } from '#gateway/config/catalogue.ts';
import type { ConfigurationSnapshot } from '#gateway/config/configuration-snapshot.ts';
import { noRoomForJson, parseForeignInTurns, tooLargeJson } from '#gateway/framing/foreign-json.ts';
import type { Gateway } from '#gateway/gateway.ts';
import { responseOf } from '#gateway/protocols/openai-responses/rewrite-response.ts';
import type { Provider } from '#gateway/providers/provider.ts';
import { HeldBody } from '#gateway/response/whole-response.ts';
import { contentOf, isPlain } from '#gateway/transport/transport.ts';
import type { BackgroundTarget } from '#responses/response-store.ts';
import { workForAll } from '#shared/async/fair-queue.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';

/** A `BackgroundTarget` of the current configuration. */
export interface ResolvedTarget {
  readonly provider: Provider & Required<Pick<Provider, 'backgroundResponse'>>;
  readonly route: ModelRoute;
  readonly target: WeightedTarget;
}

export interface ProviderAccess {
  readonly gateway: Pick<Gateway, 'log' | 'relayDependencies' | 'responses'>;
  readonly configuration: ConfigurationSnapshot;
  readonly held: { readonly answer: Pick<ByteReservation, 'takeBegun'> };
}

const endings: ReadonlyArray<Json | undefined> = ['completed', 'incomplete', 'failed', 'cancelled'];

export function isFinished({ status }: JsonObject): boolean {
  return endings.includes(status);
}

/** Finds the target in the current configuration. @returns null for a missing target, or one without such responses */
export function resolveTarget(
  { configuration }: Pick<ProviderAccess, 'configuration'>,
  { model, target: id }: BackgroundTarget,
): ResolvedTarget | null {
  const models = configuration.catalogue.models();
  for (const route of [...models.filter(({ name }) => name === model), ...models]) {
    const target = [...route.targets, ...route.fallbacks].find((each) => each.id === id);
    const provider = target === undefined ? undefined : configuration.providers.get(target.provider);
    if (target === undefined || !answersInBackground(provider)) continue;
    const alone = { ...target, weight: 1 };
    return { provider, target: alone, route: { ...route, targets: [alone], fallbacks: [] } };
  }
  return null;
}

function answersInBackground(provider: Provider | undefined): provider is ResolvedTarget['provider'] {
  return provider?.backgroundResponse !== undefined;
}

export interface CopyRequest {
  readonly action: 'get' | 'cancel' | 'delete';
  readonly id: string;
  /** The time limit; missing for that of the target's calls. */
  readonly maxMs?: number;
  readonly signal?: AbortSignal;
}

export type CopyAnswer =
  /** The response is null in an answer that does not have it. */
  | { readonly kind: 'answered'; readonly response: JsonObject | null }
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly failure: AttemptFailure };

/** Calls the target without a retry. */
export async function callTarget(
  { held: { answer } }: Pick<ProviderAccess, 'held'>,
  { provider, target }: ResolvedTarget,
  { action, id, maxMs = Number.POSITIVE_INFINITY, signal }: CopyRequest,
): Promise<CopyAnswer> {
  let held: HeldBody | null = null;
  let headers: Parameters<typeof contentOf>[0] = {};
  const attempt = new Attempt(attemptTimeouts(target.timeouts), (_status, received, control) => {
    headers = received;
    const body = new HeldBody(control, answer, isPlain(received));
    held = body;
    return { onData: (chunk) => body.take(chunk), onEnd: () => control.complete() };
  });
  const expire = () => attempt.expire();
  const total = new Deadline(expire);
  total.set(Math.min(target.timeouts.totalMs, maxMs));
  signal?.addEventListener('abort', expire);
  attempt.start(provider.transport, provider.backgroundResponse({ action, id, query: '', streams: false }));
  const outcome = await attempt.outcome;
  total.clear();
  signal?.removeEventListener('abort', expire);
  if (outcome.kind === 'failed') return failed(outcome, provider);
  const body = held as HeldBody | null;
  const content = body === null ? null : contentOf(headers, body.bytes, maxContentBytes);
  const parsing = {
    held: workForAll(),
    scan: body?.scan ?? null,
    reserve: (bytes: number) => answer.takeBegun(bytes),
  };
  const value = content === null ? undefined : await parseForeignInTurns(content, parsing);
  if (value === noRoomForJson) return { kind: 'failed', failure: noRoom };
  if (value === tooLargeJson) return { kind: 'failed', failure: tooLarge };
  return { kind: 'answered', response: responseOf(value) };
}

/** Maximum bytes after decompression. */
const maxContentBytes = 16 * 1024 * 1024;

function failed({ failure }: Extract<AttemptOutcome, { kind: 'failed' }>, { redactor }: Provider): CopyAnswer {
  if (failure.kind !== 'refused') return { kind: 'failed', failure };
  if (failure.status === 404) return { kind: 'gone' };
  return { kind: 'failed', failure: redactor === undefined ? failure : redactRefusal(failure, redactor) };
}
