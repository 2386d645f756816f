import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { DocumentedOperations } from '#test/e2e/support/documented-operations.ts';
import { composedService } from '#test/e2e/support/running-service.ts';
import { newProject } from '#test/e2e/support/tenants.ts';
import { refusedWrites, writableEnvironment, writeInputs } from '#test/e2e/support/write-inputs.ts';
import { allEnded } from '#test/support/run/all-ended.ts';
import { long } from '#test/support/run/long.ts';
import type { Client, Reply } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';

type Item = Readonly<Record<string, unknown>>;

const clientsAtOnce = 12;
/** The fewest reads that follow the writes of a client. */
const leastChecks = 50;
const signingKey = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** Writes with a file, which the JSON of the specification cannot say; and those that act on the whole service. */
const leftOut = new Set([
  ...['create_file', 'create_transcription', 'create_speech'],
  ...['rebuild_projection', 'write_digest', 'archive_usage', 'end_api_key_secrets'],
  ...Object.keys(refusedWrites),
]);

/** What reads have shown right after writes. */
interface Checks {
  count: number;
  readonly failed: string[];
}

describeOnEngines('every operation with each read right after it, over HTTP', (engines) => {
  const environment = {
    DIGEST_SIGNING_KEY: signingKey,
    ...writableEnvironment,
  };
  const running = composedService(engines, environment);

  /** Calls each write of the specification in a project of the caller, and reads after each. */
  const callEach = async (checks: Checks): Promise<void> => {
    const { client } = running;
    const operations = await DocumentedOperations.of(client);
    const inputs = writeInputs({ client, operations, projectId: await newProject(client) });
    for (const name of operations.writes.filter((write) => !leftOut.has(write))) {
      const input = await (inputs[name] ?? (() => assert.fail(`${name} has no input`)))();
      const request = operations.requestOf(name, input.path, input.body);
      const reply = await client.send<Item | undefined>(request);
      assert.ok(reply.status < 300, `${name} → ${reply.status} ${reply.text}`);
      const reads = readsAfter(operations, name, request.path, reply);
      for (const read of reads) await check(client, `${read.path} after ${name}`, read, checks);
    }
  };

  const expectAll = async (clients: number): Promise<void> => {
    const checks: Checks = { count: 0, failed: [] };
    await allEnded(Array.from({ length: clients }, () => callEach(checks)));
    assert.ok(checks.count >= clients * leastChecks, `only ${checks.count} checks`);
    const shown = checks.failed.slice(0, 20).join('\n  ');
    assert.equal(checks.failed.length, 0, `${checks.failed.length} of ${checks.count} checks failed:\n  ${shown}`);
  };

  it('shows each change in its resource and in its list, to one client', () => expectAll(1));

  it(`shows the same to 12 clients at the same time ${long}`, () => expectAll(clientsAtOnce));
});

interface Read {
  readonly path: string;
  /** Returns what is wrong; null if nothing is. */
  readonly wrong: (reply: Reply<unknown>) => string | null;
}

async function check(client: Client, what: string, read: Read, checks: Checks): Promise<void> {
  const wrong = read.wrong(await client.get(read.path));
  checks.count += 1;
  if (wrong !== null) checks.failed.push(`${what}: ${wrong}`);
}

/** Returns the reads of the written resource and of its list, as far as the specification has them. */
function readsAfter(
  operations: DocumentedOperations,
  name: string,
  path: string,
  { body, headers }: Reply<Item | undefined>,
): ReadonlyArray<Read> {
  const { method, path: template } = operations.named(name);
  const [target = ''] = path.split('?');
  const isRead = (of: string) => operations.specification.paths[of]?.get !== undefined;
  const { location } = headers;
  if (method === 'post' && location !== undefined) {
    const id = location.slice(location.lastIndexOf('/') + 1);
    return [resource(location), ...(isRead(template) ? [listed(target, id)] : [])];
  }
  if (name === 'erase_project_responses') return [emptied(target)];
  if (method === 'delete') return isRead(template) ? [gone(target)] : [];
  // An action on a resource has a path below it.
  const depth = isRead(template) ? 0 : 1;
  const of = template.split('/').slice(0, -depth || undefined);
  if (!isRead(of.join('/'))) return [];
  return [changed(target.split('/').slice(0, of.length).join('/'), body)];
}

function resource(path: string): Read {
  return { path, wrong: ({ status, text }) => (status === 200 ? null : `${status} ${text}`) };
}

function gone(path: string): Read {
  return { path, wrong: ({ status, text }) => (status === 404 ? null : `${status} ${text}`) };
}

/** What is stored is removed, and the sum of it stays. */
function emptied(path: string): Read {
  return {
    path,
    wrong: ({ status, body, text }) => (status === 200 && (body as { count: number }).count === 0 ? null : text),
  };
}

/** Where the answer is the resource, the read must be equal or newer. */
function changed(path: string, answer: Item | undefined): Read {
  return {
    path,
    wrong: ({ status, body, text }) => {
      if (status !== 200) return `${status} ${text}`;
      const [read, written] = [body as Item, answer ?? {}];
      if (read.id !== written.id || read.updatedAt === undefined) return null;
      return String(read.updatedAt) >= String(written.updatedAt) ? null : `older: ${text}`;
    },
  };
}

function listed(path: string, id: string): Read {
  return {
    path: `${path}?limit=1000`,
    wrong: ({ status, text }) => {
      if (status !== 200) return `${status} ${text}`;
      return text.includes(`"${id}"`) ? null : `${id} is missing`;
    },
  };
}
