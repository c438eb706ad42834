export { ClientAdministrationModule, AuthModule } from './auth.module';
export { AdministrationError, ClientsService } from './clients.service';
export { describeKey, KeysService, type IssuedKey } from './keys.service';
export { API_KEY_SCHEME, BEARER_SCHEME, Public, RequiresKey, ScopeByMethod } from './access-rules';
export { ApiKeyGuard, Authenticator, ClientId, clientIdOf, refusalOf } from './api-key.guard';
export { type Caller, type KeyHolder, type Scope, SCOPES } from './api-key';
