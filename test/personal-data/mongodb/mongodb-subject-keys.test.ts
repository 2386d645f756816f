import { openMongoDbSubjectKeys } from '#personal-data/subject-keys.mongodb.ts';
import { subjectKeysContract } from '#test/contract/subject-keys.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { describeOnMongoDb } from '#test/support/service/mongodb-server.ts';

describeOnMongoDb('openMongoDbSubjectKeys', (server) => {
  subjectKeysContract('MongoDB', async () => {
    const url = server.newUrl();
    return {
      keys: openMongoDbSubjectKeys({ url, timeoutMs: patientTimeoutMs }),
      another: () => openMongoDbSubjectKeys({ url, timeoutMs: patientTimeoutMs }),
      dispose: async () => undefined,
    };
  });
});
