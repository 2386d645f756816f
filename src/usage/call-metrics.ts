import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { isErrorType, otherErrorType as other } from '#gateway/attempt/attempt-failure.ts';
import type { AttemptReport } from '#gateway/health/target-health.ts';
import type { ListedTarget } from '#gateway/health/target-list.ts';
import type { CallRecord } from '#gateway/relay/call-record.ts';
import { Batcher } from '#shared/async/batcher.ts';

/** The buckets of OpenTelemetry's semantic conventions for generative AI. */
const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const tokenCounts = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
];

/** Providers name errors and operators name models. Beyond these numbers, further names share one label. */
const maxModels = 500;
const maxErrors = 100;

const byTarget = ['gen_ai_provider_name', 'gen_ai_request_model'] as const;
const ofModel = ['gen_ai_operation_name', ...byTarget] as const;

export interface CallSource {
  readonly callsLost: number;
  /** Passes on waiting records before the instruments are read. */
  readonly handOut: () => void;
}

/**
 * Metrics with the names of OpenTelemetry's semantic conventions for generative AI, in Prometheus' spelling. The
 * requested model is the target's, as its provider calls it.
 * @returns a function that receives records of calls
 */
export function genAiMetrics(registry: Registry, source: CallSource): (records: ReadonlyArray<CallRecord>) => void {
  const instruments = createInstruments(registry, source);
  countLost(registry, source);
  const names = { targets: new TargetNames(), errors: new BoundedNames(maxErrors) };
  return (records) => {
    for (const record of records) observe(instruments, names, record);
  };
}

type Instruments = ReturnType<typeof createInstruments>;

function createInstruments(registry: Registry, source: CallSource) {
  const registers = [registry];
  return {
    durations: new Histogram({
      name: 'gen_ai_client_operation_duration_seconds',
      help: 'Time from a call to the end of its answer, all attempts included',
      labelNames: [...ofModel, 'error_type'],
      buckets: seconds,
      registers,
      // This instrument is read first.
      collect: () => source.handOut(),
    }),
    firstChunks: new Histogram({
      name: 'gen_ai_client_operation_time_to_first_chunk_seconds',
      help: 'Time from a call to the first content of its answer, of streamed calls that were served',
      labelNames: ofModel,
      buckets: seconds,
      registers,
    }),
    tokens: new Histogram({
      name: 'gen_ai_client_token_usage',
      help: 'Tokens of an answer, as its provider counts them',
      labelNames: [...ofModel, 'gen_ai_token_type'],
      buckets: tokenCounts,
      registers,
    }),
    characters: new Counter({
      name: 'switchyard_speech_characters_total',
      help: 'Unicode characters of texts that were spoken',
      labelNames: byTarget,
      registers,
    }),
    audioSeconds: new Counter({
      name: 'switchyard_transcription_audio_seconds_total',
      help: 'Length of the audio that was transcribed, if the provider states it',
      labelNames: byTarget,
      registers,
    }),
  };
}

interface LabelNames {
  readonly targets: TargetNames;
  readonly errors: BoundedNames;
}

function observe(instruments: Instruments, names: LabelNames, record: CallRecord): void {
  const { operation, streamed, outcome, firstContentMs, totalMs, characters } = record;
  const of = names.targets.labelsOf(record);
  const labels = { gen_ai_operation_name: operation, ...of };
  const isServed = outcome === 'served';
  instruments.durations.observe({ ...labels, error_type: isServed ? '' : endingError(names, record) }, totalMs / 1_000);
  // The conventions define it only for streamed calls. For others it would be the whole duration.
  if (streamed && isServed && firstContentMs !== null) instruments.firstChunks.observe(labels, firstContentMs / 1_000);
  if (characters !== null) instruments.characters.inc(of, characters);
  observeReported(instruments, record, operation, of);
  for (const attempt of record.brokenAttempts)
    observeReported(instruments, attempt, operation, names.targets.labelsOf(attempt));
}

function endingError({ errors }: LabelNames, { errorCode, outcome }: CallRecord): string {
  const error = errorCode ?? outcome;
  return isErrorType(error) && errors.has(error) ? error : other;
}

function observeReported(
  instruments: Instruments,
  { tokens, audioSeconds }: Pick<CallRecord, 'tokens' | 'audioSeconds'>,
  operation: CallRecord['operation'],
  of: TargetLabels,
): void {
  if (audioSeconds !== null) instruments.audioSeconds.inc(of, audioSeconds);
  if (tokens === null) return;
  const labels = { gen_ai_operation_name: operation, ...of };
  instruments.tokens.observe({ ...labels, gen_ai_token_type: 'input' }, tokens.input);
  instruments.tokens.observe({ ...labels, gen_ai_token_type: 'output' }, tokens.output);
}

/** The labels of a target. The model is as the provider calls it. */
type TargetLabels = Record<(typeof byTarget)[number], string>;

const otherTarget: TargetLabels = { gen_ai_provider_name: other, gen_ai_request_model: other };

class TargetNames {
  readonly #known = new Map<string, TargetLabels>();

  labelsOf({ provider, target }: Pick<CallRecord, 'provider' | 'target'>): TargetLabels {
    if (provider === null || target === null) return otherTarget;
    const known = this.#known.get(target);
    if (known !== undefined) return known;
    if (this.#known.size >= maxModels) return otherTarget;
    const labels = { gen_ai_provider_name: provider, gen_ai_request_model: target.slice(provider.length + 1) };
    this.#known.set(target, labels);
    return labels;
  }
}

function countLost(registry: Registry, source: CallSource): void {
  new Counter({
    name: 'switchyard_usage_calls_lost_total',
    help: 'Calls whose usage could not be recorded',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(source.callsLost);
    },
  });
}

/** Operators name targets and providers name errors. Beyond these numbers, further names share one label. */
const maxTargets = 500;
const maxAttemptErrors = 100;

export interface AttemptMetrics {
  /** Counts an attempt a little later, outside of the request. */
  readonly attempt: (report: AttemptReport) => void;
  /** The source is read with the metrics. */
  readonly watchTargets: (targets: () => ReadonlyArray<Pick<ListedTarget, 'target' | 'circuit'>>) => void;
}

/** The instruments show a failing target even if a fallback serves its calls. */
export function createAttemptMetrics(registry: Registry): AttemptMetrics {
  const counted = new Batcher<AttemptReport>((reports) => {
    for (const report of reports) attempts.inc(labelsOf(report));
  });
  const attempts = new Counter({
    name: 'switchyard_gateway_attempts_total',
    help: 'Attempts at targets; several may serve one call',
    labelNames: ['target', 'outcome', 'error_type'],
    registers: [registry],
    collect: () => counted.drain(),
  });
  const targets = new BoundedNames(maxTargets);
  const errors = new BoundedNames(maxAttemptErrors);
  const labelsOf = ({ target, result, error }: AttemptReport) => ({
    target: targets.has(target.id) ? target.id : other,
    outcome: result,
    error_type: error === null ? '' : errorTypeOf(error.code),
  });
  const errorTypeOf = (code: string) => (isErrorType(code) && errors.has(code) ? code : other);

  return {
    attempt: (report) => counted.add(report),
    watchTargets: (list) => watchCircuits(registry, list),
  };
}

function watchCircuits(registry: Registry, list: () => ReadonlyArray<Pick<ListedTarget, 'target' | 'circuit'>>): void {
  new Gauge({
    name: 'switchyard_gateway_circuit_open',
    help: 'Whether the circuit of a target is open or half-open (1), or closed (0)',
    labelNames: ['target'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { target, circuit } of list()) this.set({ target }, circuit === 'closed' ? 0 : 1);
    },
  });
}

/** A limited number of names: names that others choose must not grow the metrics without a limit. */
export class BoundedNames {
  readonly #names = new Set<string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** True if the name is known, or there is room for it. */
  has(name: string): boolean {
    if (this.#names.has(name)) return true;
    if (this.#names.size >= this.#max) return false;
    this.#names.add(name);
    return true;
  }
}
