import assert from 'node:assert/strict';
import type { Reply } from '#test/support/service/client.ts';

/** The form of an id. */
export const cuidPattern = /^[cC][0-9a-z]{6,}$/;

/** An id of no resource. */
export const unknownId = 'cnothing0was0ever0here00';

/** A time in RFC 3339, in UTC with milliseconds. */
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Asserts the status; a failure shows the body. @returns the body */
export function expectStatus<T>(reply: Reply<T>, status: number): T {
  assert.equal(reply.status, status, `expected ${status}, got ${reply.status}: ${reply.text.slice(0, 2_000)}`);
  return reply.body;
}

/** The planes whose clients use a path. For those of the gateway, a problem also has the member `error`. */
type Planes = 'control plane' | 'both planes';

/**
 * Asserts a problem in the form of RFC 9457.
 * @param pointers the pointers of its `errors`, in any order; empty when it has no `errors`
 * @param planes default: both planes for `/v1/me` and for unknown paths, else the control plane
 */
export function expectProblem(
  reply: Reply<unknown>,
  status: number,
  code: string,
  pointers: ReadonlyArray<string> = [],
  planes: Planes = isOnBothPlanes(reply, code) ? 'both planes' : 'control plane',
): void {
  expectStatus(reply, status);
  assert.match(reply.headers['content-type'] ?? '', /^application\/problem\+json/);
  const problem = reply.body as Record<string, unknown>;
  assert.equal(problem.code, code, reply.text);
  assert.equal(problem.status, status);
  for (const member of ['type', 'title', 'detail', 'instance', 'requestId']) {
    assert.ok(typeof problem[member] === 'string' && problem[member] !== '', `the problem lacks ${member}`);
  }
  const errors = (problem.errors ?? []) as ReadonlyArray<{ pointer: string; message: string }>;
  assert.deepEqual(errors.map(({ pointer }) => pointer).sort(), [...pointers].sort(), reply.text);
  for (const { message } of errors) assert.ok(message.length > 0);
  const members = ['code', 'detail', 'instance', 'requestId', 'status', 'title', 'type'];
  if (errors.length > 0) members.push('errors');
  if (planes === 'both planes') members.push('error');
  assert.deepEqual(Object.keys(problem).sort(), members.sort());
  if (status === 401) assert.match(reply.headers['www-authenticate'] ?? '', /^Bearer/);
  if (status === 503) assert.match(reply.headers['retry-after'] ?? '', /^\d+$/);
}

/** `/v1/me` is on both planes, and an unknown path belongs to neither. */
function isOnBothPlanes({ body }: Reply<unknown>, code: string): boolean {
  return code === 'path-not-found' || (body as { instance?: unknown } | null)?.instance === '/v1/me';
}

/** Asserts that a record has exactly these members, besides a valid id and times. */
export function expectRecord(record: unknown, expected: object): void {
  const { id, createdAt, updatedAt, ...others } = record as Record<string, unknown>;
  const { id: expectedId, createdAt: firstCreatedAt, ...rest } = expected as Record<string, unknown>;
  assert.match(String(id), cuidPattern);
  assert.match(String(createdAt), timePattern);
  assert.match(String(updatedAt), timePattern);
  assert.ok(String(updatedAt) >= String(createdAt));
  if (expectedId !== undefined) assert.equal(id, expectedId);
  if (firstCreatedAt !== undefined) assert.equal(createdAt, firstCreatedAt);
  delete rest.updatedAt;
  assert.deepEqual(others, rest);
}

/** Returns a text of so many characters, one of them with two UTF-16 units and four bytes. */
export function characters(count: number): string {
  return count === 0 ? '' : `😀${'x'.repeat(count - 1)}`;
}
