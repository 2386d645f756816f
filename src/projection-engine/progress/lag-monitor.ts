import type { ProjectionStatus } from '#read-store/read-store.ts';
import { clock, type Timer } from '#shared/clock.ts';

/** The lag as this node has recorded it, by the minute, the oldest first. */
export interface PastLag {
  readonly times: ReadonlyArray<string>;
  /** The highest lag of any projection that was not stopped, in positions and in ms. */
  readonly worstLag: ReadonlyArray<number>;
  readonly worstLagMs: ReadonlyArray<number>;
  /** How many positions the log grew. */
  readonly growth: ReadonlyArray<number>;
}

interface LagMonitorOptions {
  /** The end of the log; null while it is not known. */
  readonly lastPosition: () => Promise<number | null>;
  readonly status: () => ReadonlyArray<Pick<ProjectionStatus, 'state' | 'position'>>;
  /** The time in ms of the epoch. */
  readonly now?: () => number;
}

interface Sample {
  readonly time: number;
  readonly end: number;
}

interface Minute {
  readonly time: number;
  readonly worstLag: number;
  readonly worstLagMs: number;
  readonly growth: number;
}

const sampleIntervalMs = 1_000;
const minuteMs = 60_000;
/** Number of samples that are kept for each second; `maxMinutes` are kept for each minute. */
const maxSamples = 900;
const maxMinutes = 24 * 60;

/** Records the end of the log once a second, to know the age of positions. Keeps one day at most. */
export class LagMonitor {
  readonly #options: LagMonitorOptions;
  readonly #now: () => number;
  readonly #samples: Sample[] = [];
  readonly #oldSamples: Sample[] = [];
  readonly #minutes: Minute[] = [];
  #timer: Timer | null = null;
  #looking = false;

  constructor(options: LagMonitorOptions) {
    this.#options = options;
    this.#now = options.now ?? clock.time;
  }

  start(): void {
    this.#timer = clock.setInterval(() => void this.look(), sampleIntervalMs);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clock.clearInterval(this.#timer);
  }

  /** Never rejects. */
  async look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const end = await this.#options.lastPosition();
      if (end !== null) this.#add({ time: this.#now(), end });
    } catch {
      // While the event store is unavailable, its end is not known. The next look may find it.
    } finally {
      this.#looking = false;
    }
  }

  /**
   * The age of a position to the second: for how long the log has had later events. 0 if it has none; null before the
   * first record.
   */
  lagMs(position: number): number | null {
    const newest = this.#samples.at(-1);
    if (newest === undefined) return null;
    if (newest.end <= position) return 0;
    const isBeyond = ({ end }: Sample) => end > position;
    const first = this.#oldSamples.find(isBeyond) ?? this.#samples.find(isBeyond) ?? newest;
    return this.#now() - first.time;
  }

  past(): PastLag {
    return {
      times: this.#minutes.map(({ time }) => new Date(time).toISOString()),
      worstLag: this.#minutes.map(({ worstLag }) => worstLag),
      worstLagMs: this.#minutes.map(({ worstLagMs }) => worstLagMs),
      growth: this.#minutes.map(({ growth }) => growth),
    };
  }

  #add(sample: Sample): void {
    const before = this.#samples.at(-1);
    this.#samples.push(sample);
    if (this.#samples.length > maxSamples) this.#samples.shift();
    const time = Math.floor(sample.time / minuteMs) * minuteMs;
    if (before === undefined || Math.floor(before.time / minuteMs) * minuteMs < time) this.#keep(sample);
    const running = this.#options.status().filter(({ state }) => state !== 'stopped');
    const lags = running.map(({ position }) => Math.max(0, sample.end - position));
    const behind = running.map(({ position }) => this.lagMs(position) ?? 0);
    this.#note({
      time,
      worstLag: Math.max(0, ...lags),
      worstLagMs: Math.max(0, ...behind),
      growth: before === undefined ? 0 : Math.max(0, sample.end - before.end),
    });
  }

  #keep(sample: Sample): void {
    this.#oldSamples.push(sample);
    if (this.#oldSamples.length > maxMinutes) this.#oldSamples.shift();
  }

  #note(seen: Minute): void {
    const minute = this.#minutes.at(-1);
    if (minute === undefined || minute.time < seen.time) {
      this.#minutes.push(seen);
      if (this.#minutes.length > maxMinutes) this.#minutes.shift();
      return;
    }
    this.#minutes[this.#minutes.length - 1] = {
      time: minute.time,
      worstLag: Math.max(minute.worstLag, seen.worstLag),
      worstLagMs: Math.max(minute.worstLagMs, seen.worstLagMs),
      growth: minute.growth + seen.growth,
    };
  }
}
