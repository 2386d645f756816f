import { createServer, type Socket } from 'node:net';
import { PerformanceObserver } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import type { ProbeCommand, ProbeReport } from './probe-messages.ts';

/**
 * Loaded into the service with `--import`: measures the turns of the event loop of its main thread while a client of
 * the socket in `TURN_PROBE_SOCKET` asks for it.
 *
 * A turn is the time from one callback of `setImmediate` to the next. A next one always waits, so the loop never sleeps
 * while it is measured. The processor time of the thread, unlike the time of a clock, does not grow when other programs
 * take the processor. Kernels may count it in ticks of 4 ms.
 */
const address = process.env.TURN_PROBE_SOCKET;
if (isMainThread && address !== undefined) listen(address);

/** How far memory grows before another collection is worth its time. */
const stepBytes = 1024 * 1024;

/** Neither the server nor a connection keeps the process alive. */
function listen(path: string): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const server = createServer((socket) => serve(socket, collect));
  server.listen(path);
  server.unref();
}

function serve(socket: Socket, collect: () => void): void {
  let turns: MeasuredTurns | null = null;
  socket.unref();
  socket.on('error', () => undefined);
  createInterface({ input: socket }).on('line', async (line) => {
    const command = JSON.parse(line) as ProbeCommand;
    if (command.ask === 'begin') {
      turns = new MeasuredTurns(command.maxHeldBytes, collect);
      socket.write('{}\n');
      turns.begin();
    } else {
      const report = await turns?.end();
      socket.write(`${JSON.stringify(report)}\n`);
    }
  });
}

/** A turn: its begin and end by the clock, and the processor time of the thread in between, in milliseconds. */
interface Turn {
  readonly from: number;
  readonly until: number;
  readonly cpuMs: number;
}

/** A pause of the garbage collector, by the clock. */
interface Pause {
  readonly from: number;
  readonly ms: number;
}

/** The turns that are too short to be the longest are not kept. */
const leastMs = 2;

class MeasuredTurns {
  readonly #maxHeldBytes: number;
  readonly #collect: () => void;
  readonly #idleBytes: number;
  readonly #turns: Turn[] = [];
  readonly #pauses: Pause[] = [];
  readonly #observer = new PerformanceObserver((list) => this.#take(list.getEntries()));
  #heldBytes = 0;
  #isRunning = true;

  constructor(maxHeldBytes: number, collect: () => void) {
    this.#maxHeldBytes = maxHeldBytes;
    this.#collect = collect;
    collect();
    this.#idleBytes = usedBytes();
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  begin(): void {
    let from = performance.now();
    let cpu = process.threadCpuUsage();
    const endTurn = () => {
      const { user, system } = process.threadCpuUsage(cpu);
      const cpuMs = (user + system) / 1_000;
      if (cpuMs >= leastMs) this.#turns.push({ from, until: performance.now(), cpuMs });
      this.#sample();
      if (!this.#isRunning) return;
      from = performance.now();
      cpu = process.threadCpuUsage();
      setImmediate(endTurn);
    };
    setImmediate(endTurn);
  }

  async end(): Promise<ProbeReport> {
    this.#isRunning = false;
    // The observer gets its entries in a later turn.
    await new Promise((resolve) => setTimeout(resolve, 5));
    this.#take(this.#observer.takeRecords());
    this.#observer.disconnect();
    const pausedMs = this.#turns.reduce((sum, turn) => sum + this.#pausedIn(turn), 0);
    const worked = this.#turns.map((turn) => turn.cpuMs - this.#pausedIn(turn));
    return {
      longestMs: worked.reduce((longest, ms) => Math.max(longest, ms), 0),
      pausedMs,
      heldBytes: this.#heldBytes,
    };
  }

  /**
   * The pauses of the garbage collector in a turn, without the collections of the probe, which come between turns. A
   * pause by the clock may be longer than its processor time on a busy machine, never shorter.
   */
  #pausedIn({ from, until }: Turn): number {
    const inside = this.#pauses.filter((pause) => pause.from >= from && pause.from < until);
    return inside.reduce((sum, { ms }) => sum + ms, 0);
  }

  /**
   * Samples the memory between two turns. The bytes in use also count garbage. A collection takes tens of milliseconds,
   * so there is only one when more is in use than may be held, and than was held after an earlier one.
   */
  #sample(): void {
    const enough = Math.max(this.#heldBytes, this.#maxHeldBytes);
    const inUse = usedBytes() - this.#idleBytes;
    if (inUse > enough + stepBytes) {
      this.#collect();
      this.#heldBytes = Math.max(this.#heldBytes, usedBytes() - this.#idleBytes);
    } else if (inUse <= this.#maxHeldBytes) this.#heldBytes = Math.max(this.#heldBytes, inUse);
  }

  #take(entries: ReadonlyArray<PerformanceEntry>): void {
    for (const { startTime, duration } of entries) this.#pauses.push({ from: startTime, ms: duration });
  }
}

/** The bytes of the thread's objects, and of buffers outside its heap. */
function usedBytes(): number {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
}
