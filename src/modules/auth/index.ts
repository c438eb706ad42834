export { ClientAdministrationModule, AuthModule } from './auth.module';
export { AdministrationError, ClientsService } from './clients.service';
export { describeKey, KeysService, type IssuedKey } from './keys.service';
export {
  accessRuleOf,
  API_KEY_SCHEME,
  BEARER_SCHEME,
  isPublic,
  MissingApiKeyError,
  Public,
  RequiresKey,
  ScopeByMethod,
} from './access-rules';
export { ApiKeyGuard, assertMayCall, Authenticator, ClientId, keyOf } from './api-key.guard';
export { type ClientKey, type Identity, type Scope, SCOPES } from './api-key';
