import { recordedClients } from '#test/gateway/matrix/recorded-clients.ts';
import { expectReturnedState } from './returned-state.ts';

describe('what a provider of chats needs back, by recorded clients', function () {
  this.timeout(20_000);
  expectReturnedState(recordedClients('returned-state'));
});
