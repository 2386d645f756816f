import { setTimeout as sleep } from 'node:timers/promises';
import { processorMs } from '#bench/gateway-processes/processor-time.ts';
import { format, print, type Result } from '#bench/measure.ts';
import { callsPerPost, type PostCalls } from './service/calls-per-post.ts';
import { EngineService, newPrefix } from './service/engine-service.ts';
import type { ForeignApplication } from './service/foreign-application.ts';

const perSecond = 2_000;
const beatMs = 50;
const connections = 64;

/**
 * Measures a shared server: another application has stored many events before, and stores 2,000 a second. A `POST`
 * makes as many calls as without them, and an idle node takes little of a core.
 */
export async function foreignEvents(
  url: string,
  application: ForeignApplication,
  isQuick: boolean,
): Promise<ReadonlyArray<Result>> {
  const foreign = isQuick ? 100_000 : 1_000_000;
  const [postSeconds, idleSeconds] = isQuick ? [2, 5] : [5, 20];
  const undisturbed = await EngineService.start({ url, prefix: newPrefix() });
  await undisturbed.createFlows();
  const before = await callsPerPost(undisturbed, connections, postSeconds);
  await undisturbed.stop();

  await application.append(foreign);
  const service = await EngineService.start({ url, prefix: newPrefix() });
  const stopping = new AbortController();
  const writing = keepWriting(application, stopping.signal);
  try {
    await service.createFlows();
    const beside = await callsPerPost(service, connections, postSeconds);
    const idle = await coreShare(service.server.pid, idleSeconds);
    stopping.abort();
    const written = await writing;
    print(
      `${format(foreign)} events of another application before ours, ${format(written)} a second beside: ${calls(beside)}; without them: ${calls(before)}`,
    );
    return [
      {
        what: 'calls for each POST beside foreign events',
        figure: beside.own / before.own,
        unit: ' × those without them',
        required: 1.01,
        aim: 1.001,
      },
      { what: `an idle node beside them`, figure: idle * 100, unit: ' % of a core', required: 5, aim: 2 },
    ];
  } finally {
    stopping.abort();
    await writing.catch(() => undefined);
    await service.stop();
  }
}

function calls({ own, pages }: PostCalls): string {
  return `${format(own)} calls for each POST and ${format(pages)} page reads`;
}

/** @returns the events per second that were written */
async function keepWriting(application: ForeignApplication, signal: AbortSignal): Promise<number> {
  const began = performance.now();
  let written = 0;
  while (!signal.aborted) {
    const due = Math.floor(((performance.now() - began) / 1_000) * perSecond) - written;
    if (due > 0) await application.append(due);
    written += Math.max(0, due);
    await sleep(beatMs);
  }
  return (written / (performance.now() - began)) * 1_000;
}

/** Returns the share of one core that an idle process takes. */
async function coreShare(pid: number, seconds: number): Promise<number> {
  // The effects of earlier requests are complete after this pause.
  await sleep(3_000);
  const [before, began] = [processorMs(pid), performance.now()];
  await sleep(seconds * 1_000);
  return (processorMs(pid) - before) / (performance.now() - began);
}
