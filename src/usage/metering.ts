import { Counter, type Registry } from 'prom-client';
import type { Admission } from '#exchange/admission.ts';
import type { CallRecord, Usage } from '#gateway/relay/call-record.ts';
import { Batcher } from '#shared/async/batcher.ts';
import type { CallLog } from './call-log/call-log.ts';
import { CallRecorder } from './call-log/call-recorder.ts';
import { type AttemptMetrics, createAttemptMetrics, genAiMetrics } from './call-metrics.ts';
import { UsageRecorder, type UsageRecorderOptions } from './usage-recorder.ts';

export interface MeteringOptions extends UsageRecorderOptions {
  readonly admission: Pick<Admission, 'rooms'>;
  readonly registry: Registry;
  readonly calls: Pick<CallLog, 'add'>;
}

/** The gateway's `usage` port and its implementation. */
export interface Metering {
  readonly usage: Usage;
  readonly attempts: AttemptMetrics;
  readonly flush: () => Promise<void>;
  /** Stores what is in memory. Must be called after the last call, while the stores are still open. */
  readonly close: () => Promise<void>;
}

/** Each call is measured, added up and recorded, outside of the request. */
export function openMetering(options: MeteringOptions): Metering {
  const recorder = new UsageRecorder(options);
  const calls = new CallRecorder({ admission: options.admission, calls: options.calls, log: options.log });
  countDropped(options.registry, calls);
  let lost = 0;
  const ended = new Batcher<CallRecord>((records) => {
    try {
      recorder.add(records);
      calls.add(records);
      observe(records);
    } catch {
      lost += records.length;
    }
  });
  const observe = genAiMetrics(options.registry, {
    get callsLost() {
      return recorder.callsLost + lost;
    },
    handOut: () => ended.drain(),
  });
  return {
    usage: { record: (record) => ended.add(record) },
    attempts: createAttemptMetrics(options.registry),
    flush: async () => {
      ended.drain();
      await Promise.all([recorder.flush(), calls.flush()]);
    },
    close: async () => {
      ended.drain();
      await Promise.all([recorder.close(), calls.close()]);
    },
  };
}

function countDropped(registry: Registry, calls: Pick<CallRecorder, 'dropped'>): void {
  let counted = 0;
  new Counter({
    name: 'switchyard_call_records_dropped_total',
    help: 'Calls without a record in the list of calls: too many in a second, too many that waited for the store, or not taken by it',
    registers: [registry],
    collect() {
      this.inc(calls.dropped - counted);
      counted = calls.dropped;
    },
  });
}
