import { Counter, Gauge, type Registry } from 'prom-client';
import { isErrorType, otherErrorType as other } from '#gateway/error-type.ts';
import type { AttemptReport } from '#gateway/health/attempt-report.ts';
import type { TargetStatus } from '#gateway/health/target-list.ts';
import { Batcher } from '#shared/async/batcher.ts';
import { BoundedNames } from './bounded-names.ts';

/** Operators name targets and providers name errors. Beyond these numbers, further names share one label. */
const maxTargets = 500;
const maxErrors = 100;

/** The gateway's instruments of attempts. */
export interface AttemptMetrics {
  /** Counts an attempt a little later, outside of the request. */
  readonly attempt: (report: AttemptReport) => void;
  /** Sets the source of the state of circuits, which is read with the metrics. */
  readonly watchTargets: (targets: () => ReadonlyArray<Pick<TargetStatus, 'target' | 'circuit'>>) => void;
}

/** Makes the instruments that show a failing target even if a fallback serves its calls. */
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
  const errors = new BoundedNames(maxErrors);
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

function watchCircuits(registry: Registry, list: () => ReadonlyArray<Pick<TargetStatus, 'target' | 'circuit'>>): void {
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
