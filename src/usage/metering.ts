import type { Registry } from 'prom-client';
import { type Usage, UsageBuffer } from '#gateway/relay/call-record.ts';
import { type AttemptMetrics, createAttemptMetrics, genAiMetrics } from './call-metrics.ts';
import { UsageRecorder, type UsageRecorderOptions } from './usage-recorder.ts';

export interface MeteringOptions extends UsageRecorderOptions {
  /** The registry of the gateway's instruments. */
  readonly registry: Registry;
}

/** The gateway's `usage` port and its implementation. */
export interface Metering {
  readonly usage: Usage;
  /** Counts every attempt of the gateway's calls. */
  readonly attempts: AttemptMetrics;
  /** Stores the sums in memory. Must be called after the last call, while the event store is still open. */
  readonly close: () => Promise<void>;
}

/** Opens metering: each call is measured, added up and recorded, outside of the request. */
export function openMetering(options: MeteringOptions): Metering {
  const recorder = new UsageRecorder(options);
  const outlet = new UsageBuffer((records) => {
    recorder.add(records);
    observe(records);
  });
  const observe = genAiMetrics(options.registry, {
    get callsLost() {
      return recorder.callsLost + outlet.dropped;
    },
    handOut: outlet.flush,
  });
  return {
    usage: outlet,
    attempts: createAttemptMetrics(options.registry),
    close: async () => {
      outlet.flush();
      await recorder.close();
    },
  };
}
