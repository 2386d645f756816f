import type { Logger } from '#shared/logging/logger.ts';
import { ThrottledLog } from '#shared/logging/throttled-log.ts';
import type { AttemptError, AttemptObserver, AttemptReport, CircuitChange } from './attempt-report.ts';

/** At most one line in this time for each target and code. */
const intervalMs = 10_000;

/**
 * Logs every failed attempt and every change of a circuit at `warn`, because a successful fallback must not hide them.
 */
export class AttemptLog implements AttemptObserver {
  readonly #log: ThrottledLog;

  constructor(log: Pick<Logger, 'warn'>, lineIntervalMs = intervalMs) {
    this.#log = new ThrottledLog(log, lineIntervalMs);
  }

  readonly attempt = (report: AttemptReport): void => {
    const { target, error, requestId } = report;
    if (error === null) return;
    this.#log.warn(
      `${target.id}\n${error.code}`,
      fieldsOf({ target, error, requestId }),
      'an attempt at a target failed',
    );
  };

  readonly circuit = (change: CircuitChange): void => {
    const { target, state } = change;
    this.#log.warn(`${target.id}\n${state} circuit`, { ...fieldsOf(change), circuit: state }, messages[state]);
  };

  /** Writes the lines that were held back so far. */
  close(): void {
    this.#log.close();
  }
}

const messages: Readonly<Record<CircuitChange['state'], string>> = {
  open: 'the circuit of a target is open: it gets no calls for a while',
  'half-open': 'the circuit of a target is half-open: one call tries it',
  closed: 'the circuit of a target is closed: it gets calls again',
};

function fieldsOf({ target, error, requestId }: Pick<CircuitChange, 'target' | 'error' | 'requestId'>) {
  const { id, provider, model } = target;
  return { provider, model, target: id, ...errorFields(error), requestId };
}

function errorFields(error: AttemptError | null) {
  return error === null ? {} : { code: error.code, status: error.status };
}
