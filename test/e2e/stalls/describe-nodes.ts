import { withTimeout } from '#shared/async/timed-waits.ts';
import type { Client } from '#test/support/service/client.ts';
import type { FaultyNode, FaultyNodes } from './faulty-nodes.ts';

const answerMs = 5_000;
const maxLines = 25;

/** Describes each node, for a step that has stalled: its readiness, its processes and the last lines of its log. */
export async function describeNodes({ live }: FaultyNodes): Promise<string> {
  return (await Promise.all(live.map(describeNode))).join('\n');
}

async function describeNode({ service }: FaultyNode): Promise<string> {
  const { client } = service;
  const answers = await Promise.all([answerTo(client, '/readyz'), answerTo(client, '/v1/processes')]);
  const lines = service.stdout.split('\n').filter(isTelling).slice(-maxLines);
  return [`node ${service.pid}`, ...answers, ...lines, service.stderr].join('\n  ');
}

async function answerTo(client: Client, path: string): Promise<string> {
  const answered = client.get(path).then(
    ({ status, text }) => `${status} ${text}`,
    (error: unknown) => String(error),
  );
  return `${path}: ${await withTimeout(answerMs, answered, 'no answer')}`;
}

/** Leaves out the lines of requests. */
function isTelling(line: string): boolean {
  return line !== '' && !line.includes('"requestId"');
}
