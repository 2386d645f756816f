import { writeRequestMembers } from './members-fixture.ts';

// `npm run request-members`: freezes the members of requests that the pinned SDKs list.
writeRequestMembers();
