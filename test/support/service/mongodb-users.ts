import type { MongoClient } from 'mongodb';
import { type UserAction, userActions } from '#mongodb/user-actions.ts';
import { skipOptionalSuite } from '#test/support/run/skipped-suites.ts';
import { SecantusDb } from './secantusdb.ts';

/** A server whose users may do what the service does, each on a database of its own. */
export interface ServerWithUsers {
  /** Returns the address of a user who lacks one action, or none. */
  readonly urlWithout: (action: UserAction | null) => string;
}

const suiteTestMs = 180_000;
const password = 'let-me-in';

/** Describes a suite of users with rights. It is skipped without SecantusDB, because FerretDB has no roles. */
export function describeWithUsers(suite: string, define: (server: ServerWithUsers) => void): void {
  if (!SecantusDb.isInstalled) {
    skipOptionalSuite(suite, 'run .ci/secantusdb');
    return;
  }
  describe(suite, function () {
    this.timeout(suiteTestMs);
    const server = new SecantusDb();
    before(() => server.startWithUsers(createUsers));
    after(() => server.dispose());
    define({
      urlWithout: (action) => {
        const database = databaseWithout(action);
        return `mongodb://user:${password}@127.0.0.1:${server.port}/${database}?authSource=${database}`;
      },
    });
  });
}

const databaseWithout = (action: UserAction | null) => `without_${action ?? 'none'}`;

async function createUsers(client: MongoClient): Promise<void> {
  for (const left of [null, ...userActions]) {
    const db = databaseWithout(left);
    const actions = userActions.filter((action) => action !== left);
    const privileges = [{ resource: { db, collection: '' }, actions }];
    await client.db(db).command({ createRole: 'switchyard', privileges, roles: [] });
    await client.db(db).command({ createUser: 'user', pwd: password, roles: [{ role: 'switchyard', db }] });
  }
}
