export { ClientAdministrationModule, AuthModule } from './auth.module';
export { AdministrationError, ClientsService } from './clients.service';
export { describeKey, type KeyDescription, KeysService, type IssuedKey } from './keys.service';
export {
  ApiKeyGuard,
  API_KEY_SCHEME,
  BEARER_SCHEME,
  ClientId,
  clientIdOf,
  Public,
  RequiresKey,
  refusalOf,
  ScopeByMethod,
} from './api-key.guard';
export { Authenticator } from './authenticator';
export { type Caller, type KeyHolder, type Scope, SCOPES } from './api-key';
