import assert from 'node:assert/strict';
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';
import { StreamHistory } from '#application/history/stream-history.ts';
import { maxPageBytes } from '#application/operations/paging.ts';
import { projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import type { Caller } from '#domain/shared/access.ts';
import { streamName } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { TextStream } from '#exchange/client.ts';
import { listAuditEntries } from '#queries/audit/list-audit-entries.ts';
import type { Json } from '#shared/json/json.ts';
import { profileCreated } from '#test/support/events/agent-profile-events.ts';
import { begunFlow, flowDeleted, versionOf } from '#test/support/events/flow-events.ts';
import { phoneNumberCreated } from '#test/support/events/phone-number-events.ts';
import { templateCreated, templateVersionCreated } from '#test/support/events/template-events.ts';
import { customerCreated, personalDataErased, projectCreated } from '#test/support/events/tenant-events.ts';
import { callerOf, ids, tenants } from '#test/support/events/tenants.ts';
import { givenLog } from '#test/support/harness/query-harness.ts';
import { type ExampleEvent, timeOf } from '#test/support/harness/recorded-events.ts';

interface Entry {
  readonly position: number;
  readonly type: string;
  readonly time: string;
  readonly resource: { readonly kind: string; readonly id: string };
  readonly summary: string;
  readonly changes: ReadonlyArray<Json> | null;
  readonly changesOmitted?: true;
}

const entriesOf = (body: Json) => (body as unknown as { readonly entries: ReadonlyArray<Entry> }).entries;
const renamed = (name: string) => newEvent('FlowRenamed', { id: ids.flow, name });
const flowStream = (...events: ReadonlyArray<ExampleEvent>) => ({ [`flow-${ids.flow}`]: [...begunFlow(), ...events] });

const secondStream = (events: ReadonlyArray<ExampleEvent>) => ({
  'flow-cflow20000': [...begunFlow({ id: 'cflow20000' }), ...events],
});

/** Versions with entries of about 60,000 characters. */
function longVersions(count: number): ReadonlyArray<ExampleEvent> {
  return Array.from({ length: count }, (_, index) =>
    newEvent('FlowVersionCreated', {
      ...{ id: versionOf(ids.flow, index + 2), flowId: ids.flow, version: index + 2, tag: `v${index + 2}` },
      flowSchema: { say: 'x'.repeat(60_000) },
    }),
  );
}

/** The flow of one project and the phone number of another, of the same organization. */
const twoProjects = {
  ...flowStream(renamed('Nights')),
  [`phoneNumber-${ids.number}`]: [phoneNumberCreated({ projectId: ids.sibling })],
};

describe('list_audit_entries', () => {
  it('lists the events of all resources, newest first, with their changes', async () => {
    const { body } = await givenLog(twoProjects).ask(listAuditEntries);
    const entries = entriesOf(body);
    assert.deepEqual(
      entries.map(({ position, type }) => [position, type]),
      [
        [5, 'PhoneNumberCreated'],
        [4, 'FlowRenamed'],
        [3, 'FlowVersionActivated'],
        [2, 'FlowVersionCreated'],
        [1, 'FlowCreated'],
      ],
    );
    assert.deepEqual(entries[1], {
      position: 4,
      type: 'FlowRenamed',
      time: timeOf(3),
      actor: { keyId: 'ckeyadmin0000000', keyType: 'admin', keyName: null },
      requestId: 'request-1',
      resource: { kind: 'flow', id: ids.flow },
      summary: 'The flow was renamed to “Nights”.',
      changes: [
        { op: 'replace', path: '/updatedAt', value: timeOf(3) },
        { op: 'replace', path: '/name', value: 'Nights' },
      ],
    });
  });

  it('filters by resource, kind, type, actor and time', async () => {
    const log = givenLog(twoProjects);
    const positions = async (filters: Readonly<Record<string, string>>) =>
      entriesOf((await log.ask(listAuditEntries, filters)).body).map(({ position }) => position);
    assert.deepEqual(await positions({ resource: ids.flow }), [4, 3, 2, 1]);
    assert.deepEqual(await positions({ resource: ids.number }), [5]);
    assert.deepEqual(await positions({ resource: versionOf(ids.flow, 1) }), [3, 2]);
    assert.deepEqual(await positions({ resource: 'phone-number' }), [5]);
    assert.deepEqual(await positions({ type: 'FlowRenamed' }), [4]);
    assert.deepEqual(await positions({ actor: 'ckeyother0000000' }), []);
    assert.deepEqual(await positions({ actor: 'ckeyadmin0000000', type: 'FlowCreated' }), [1]);
    assert.deepEqual(await positions({ since: timeOf(2) }), [4, 3]);
    assert.deepEqual(await positions({ until: timeOf(1) }), [5, 1]);
    assert.equal((await log.ask(listAuditEntries, { type: 'FlowBent' })).refusal, 'invalid-input');
  });

  it('includes versions of a template, and agent profiles of a project under their own ids alone', async () => {
    const log = givenLog({
      [`template-${ids.template}`]: [templateCreated(), templateVersionCreated(1)],
      [`project-${ids.project}`]: [projectCreated()],
      [streamName(projectAgentProfiles, ids.profile)]: [profileCreated()],
    });
    const types = async (resource: string) =>
      entriesOf((await log.ask(listAuditEntries, { resource })).body).map(({ type }) => type);
    assert.deepEqual(await types(ids.template), ['TemplateVersionCreated', 'TemplateCreated']);
    assert.deepEqual(await types(versionOf(ids.template, 1)), ['TemplateVersionCreated']);
    assert.deepEqual(await types(ids.project), ['ProjectCreated']);
    assert.deepEqual(await types(ids.profile), ['AgentProfileCreated']);
    assert.deepEqual(await types('cnothing000000000'), []);
  });

  it('begins at the end of a past time range, without later entries', async () => {
    const days = Array.from({ length: 40 }, (_, day) => renamed(`Day ${day}`));
    const log = givenLog(flowStream(...days));
    const all = entriesOf((await log.ask(listAuditEntries, { since: timeOf(10), until: timeOf(12) })).body);
    assert.deepEqual(
      all.map(({ time }) => time),
      [timeOf(11), timeOf(10)],
    );
  });

  it('shows each key only the entries that it can access: a partner also its customers’, and templates to no other key', async () => {
    const log = givenLog(
      {
        ...flowStream(),
        [`organization-${ids.customer}`]: [customerCreated()],
        [`template-${ids.template}`]: [templateCreated()],
      },
      {
        [`organization-${ids.customer}`]: { ...tenants.customer, projectId: null },
        [`template-${ids.template}`]: { ...tenants.project, projectId: null },
      },
    );
    const kinds = async (caller: Caller) => {
      const { body } = await log.ask(listAuditEntries, {}, caller);
      return [...new Set(entriesOf(body).map(({ resource }) => resource.kind))].toSorted();
    };
    assert.deepEqual(await kinds(callerOf('partner')), ['customer', 'flow', 'flow-version', 'template']);
    assert.deepEqual(await kinds(callerOf('organization')), ['flow', 'flow-version']);
    assert.deepEqual(await kinds(callerOf('organization', tenants.customer)), ['customer']);
    assert.deepEqual(await kinds(callerOf('project')), ['flow', 'flow-version']);
    assert.deepEqual(await kinds(callerOf('project', tenants.stranger)), []);
    const { body } = await log.ask(listAuditEntries, { resource: ids.flow }, callerOf('project', tenants.stranger));
    assert.deepEqual(entriesOf(body), []);
    assert.equal(
      (await log.ask(listAuditEntries, {}, callerOf('project', { scopes: ['flows:read'] }))).refusal,
      'scope-required',
    );
  });

  it('pages without losing or repeating an entry, even if few entries match a filter', async () => {
    const names = Array.from({ length: 60 }, (_, index) => renamed(`Name ${index}`));
    const log = givenLog(flowStream(...names, flowDeleted()));
    const positions: number[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof log.ask>> = await log.ask(listAuditEntries, {
        ...{ type: 'FlowRenamed', limit: '7' },
        ...(cursor === null ? {} : { cursor }),
      });
      positions.push(...entriesOf(page.body).map(({ position }) => position));
      cursor = page.nextCursor;
    } while (cursor !== null);
    assert.deepEqual(
      positions,
      Array.from({ length: 60 }, (_, index) => 63 - index),
    );
  });

  it('makes pages of long entries within 2 MiB, each as long as it can be', async () => {
    const log = givenLog({ ...flowStream(...longVersions(80)), ...secondStream(longVersions(20)) });
    const pages: Entry[][] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof log.ask>> = await log.ask(
        listAuditEntries,
        cursor === null ? {} : { cursor },
      );
      pages.push([...entriesOf(page.body)]);
      assert.ok(JSON.stringify(page.body).length < maxPageBytes + 1_000);
      cursor = page.nextCursor;
    } while (cursor !== null);
    assert.deepEqual(
      pages.flat().map(({ position }) => position),
      Array.from({ length: 106 }, (_, index) => 106 - index),
    );
    const longest = 61_000;
    for (const page of pages.slice(0, -1)) {
      assert.ok(JSON.stringify(page).length + longest > maxPageBytes, `${page.length} entries`);
    }
  });

  it('makes few entries beyond those of a page', async () => {
    const log = givenLog(flowStream(...longVersions(400)));
    log.store.reads.length = 0;
    const { body } = await log.ask(listAuditEntries);
    // Each entry needs a read for its own data.
    const reads = log.store.reads.length;
    assert.ok(entriesOf(body).length < 40 && reads < 100, `${reads} reads`);
  });

  it('omits changes of more than 64 KiB, which the history of the resource shows', async () => {
    const [created, , activated] = begunFlow();
    const large = newEvent('FlowVersionCreated', {
      ...{ id: versionOf(ids.flow, 1), flowId: ids.flow, version: 1, tag: 'v1' },
      flowSchema: { say: 'x'.repeat(70_000) },
    });
    const log = givenLog({ [`flow-${ids.flow}`]: [created, large, activated] as ReadonlyArray<ExampleEvent> });
    const entries = entriesOf((await log.ask(listAuditEntries)).body);
    assert.deepEqual([entries[1]?.changes, entries[1]?.changesOmitted], [null, true]);
    assert.equal(entries[0]?.changesOmitted, undefined);
  });

  it('lists neither claims nor remembered requests nor metering', async () => {
    const log = givenLog({
      ...flowStream(newEvent('RequestAnswered', {})),
      'phoneNumberClaim-abc': [newEvent('PhoneNumberClaimed', { phoneNumberId: ids.number })],
    });
    const types = entriesOf((await log.ask(listAuditEntries)).body).map(({ type }) => type);
    assert.deepEqual(types, ['FlowVersionActivated', 'FlowVersionCreated', 'FlowCreated']);
  });

  it('shows erased personal data as erased', async () => {
    const log = givenLog({ [`organization-${ids.customer}`]: [customerCreated(), personalDataErased()] });
    const text = JSON.stringify((await log.ask(listAuditEntries)).body);
    assert.ok(text.includes('"clientEmail":"erased"') && !text.includes('sealed'), text);
  });
});

describe('export of the audit', () => {
  /** Reads the text of an export. */
  async function exported(log: ReturnType<typeof givenLog>, accept: string, input = {}): Promise<string> {
    const stream: TextStream = await log.export(listAuditEntries, accept, input);
    let text = '';
    for await (const chunk of stream.chunks) text += chunk;
    return text;
  }

  it('has the same entries as the pages, one in each line', async () => {
    const log = givenLog(twoProjects);
    const lines = (await exported(log, 'application/x-ndjson')).split('\n');
    assert.equal(lines.pop(), '');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      entriesOf((await log.ask(listAuditEntries)).body),
    );
  });

  it('is CSV with a header, in which no cell begins like a formula', async () => {
    const log = givenLog({ ...flowStream(renamed('=cmd()"')), [`project-${ids.project}`]: [projectCreated()] });
    const [header, first, second] = (await exported(log, 'text/csv', { resource: ids.flow })).split('\r\n');
    assert.equal(
      header,
      'position,time,actorKeyId,actorKeyType,requestId,resourceKind,resourceId,type,summary,changes,actorKeyName,onBehalfOf',
    );
    assert.match(first ?? '', /^4,.*,FlowRenamed,"?The flow was renamed to “=cmd\(\)""”\."?,"\[/);
    assert.match(second ?? '', /^3,.*,FlowVersionActivated,/);
  });

  it('holds only a few entries in memory at any length', async () => {
    const names = Array.from({ length: 3_000 }, (_, index) => renamed(`Name ${index}`));
    const log = givenLog(flowStream(...names));
    const { chunks } = await log.export(listAuditEntries, 'application/x-ndjson', {});
    let longest = 0;
    let lines = 0;
    for await (const chunk of chunks) {
      longest = Math.max(longest, chunk.length);
      lines += chunk.split('\n').length - 1;
      await nextTurn();
    }
    assert.equal(lines, 3_003);
    assert.ok(longest <= 20 * 1024, `${longest} characters in one piece`);
  });

  it('has one long entry in a piece, and all in their order', async () => {
    const log = givenLog(flowStream(...longVersions(30), renamed('End')));
    const { chunks } = await log.export(listAuditEntries, 'application/x-ndjson', {});
    const positions: number[] = [];
    for await (const chunk of chunks) {
      const lines = chunk.split('\n').slice(0, -1);
      positions.push(...lines.map((line) => (JSON.parse(line) as Entry).position));
      assert.ok(chunk.length <= 20 * 1024 || lines.length === 1, `${chunk.length} characters in ${lines.length} lines`);
    }
    assert.deepEqual(
      positions,
      Array.from({ length: 34 }, (_, index) => 34 - index),
    );
  });

  it('reads nothing while its client is waited for', async () => {
    const log = givenLog(flowStream(...longVersions(200)));
    const { chunks } = await log.export(listAuditEntries, 'application/x-ndjson', {});
    const pieces = chunks[Symbol.asyncIterator]();
    await pieces.next();
    await pieces.next();
    const read = log.store.reads.length;
    await setTimeout(50);
    assert.equal(log.store.reads.length, read);
    assert.ok(read < 50, `${read} reads`);
    await pieces.return?.();
  });
});

describe('StreamHistory', () => {
  it('reads a part of a long stream from a nearby kept state', async () => {
    const names = Array.from({ length: 1_000 }, (_, index) => renamed(`Name ${index}`));
    const { store } = givenLog(flowStream(...names));
    const { flow } = await import('#domain/flow/flow.ts');
    const history = new StreamHistory(store);
    await history.at(flow, ids.flow, 1_002);
    store.reads.length = 0;
    const { revision } = await history.at(flow, ids.flow, 555);
    assert.equal(revision, 555);
    assert.deepEqual(store.reads, [[`flow-${ids.flow}`, 500]]);
  });
});
