import { openMongoDbSubjectKeys } from '#personal-data/mongodb/mongodb-subject-keys.ts';
import { subjectKeysContract } from '#test/contract/subject-keys.ts';
import { describeOnMongoDb } from '#test/support/service/ferretdb.ts';

describeOnMongoDb('openMongoDbSubjectKeys', (server) => {
  subjectKeysContract('MongoDB', async () => {
    const url = server.newUrl();
    return {
      keys: openMongoDbSubjectKeys({ url }),
      another: () => openMongoDbSubjectKeys({ url }),
      dispose: async () => undefined,
    };
  });
});
