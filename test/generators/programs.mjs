// Programs that use each generated client for a page, a POST and an error. Each prints `1 Ponies 404`.
const SETTINGS = `const { BASE: baseUrl = '', KEY = '' } = process.env; const headers = { 'X-API-Key': KEY };`;

export const TYPESCRIPT = {
  'openapi-typescript': {
    generate: 'openapi-typescript openapi.json --output client.ts',
    program: `import createClient from 'openapi-fetch';
      import type { paths } from './client';
      ${SETTINGS}
      const api = createClient<paths>({ baseUrl, headers });
      const { data: page } = await api.GET('/pets', { params: { query: { limit: 1 } } });
      const { data: created } = await api.POST('/categories', { body: { name: 'Ponies' } });
      const { error } = await api.GET('/categories/{categoryId}', { params: { path: { categoryId: 4711 } } });
      console.log(page!.length, created!.name, error!.status);`,
  },
  '@hey-api/openapi-ts': {
    generate: 'openapi-ts --input openapi.json --output client --silent',
    program: `import { createCategory, getCategory, listPets } from './client';
      import { client } from './client/client.gen';
      ${SETTINGS}
      client.setConfig({ baseUrl, headers });
      const { data: page } = await listPets({ query: { limit: 1 } });
      const { data: created } = await createCategory({ body: { name: 'Ponies' } });
      const { error } = await getCategory({ path: { categoryId: 4711 } });
      console.log(page!.length, created!.name, error!.status);`,
  },
  'swagger-typescript-api': {
    generate: 'swagger-typescript-api generate --path openapi.json --name client.ts --silent',
    program: `import { Api } from './client';
      ${SETTINGS}
      const api = new Api({ baseUrl, baseApiParams: { headers } });
      const { data: page } = await api.pets.listPets({ limit: 1 });
      const { data: created } = await api.categories.createCategory({ name: 'Ponies' });
      const { error } = await api.categories.getCategory(4711).catch((response) => response);
      console.log(page.length, created.name, error.status);`,
  },
  oazapfts: {
    generate: 'oazapfts openapi.json client.ts',
    program: `import { createCategory, defaults, getCategory, listPets } from './client';
      ${SETTINGS}
      Object.assign(defaults, { baseUrl, headers });
      const page = await listPets({ limit: 1 });
      const created = await createCategory({ name: 'Ponies' });
      const failed = await getCategory(4711);
      console.log(page.status === 200 && page.data.length, created.status === 201 && created.data.name, failed.status);`,
  },
  'typescript-fetch': {
    needs: 'mvn',
    generate: 'openapi-generator generate -i openapi.json -g typescript-fetch -o client',
    program: `import { AnimalsApi, CategoriesApi, Configuration, type ResponseError } from './client';
      ${SETTINGS}
      const configuration = new Configuration({ basePath: baseUrl, headers });
      const categories = new CategoriesApi(configuration);
      const page = await new AnimalsApi(configuration).listPets({ limit: 1 });
      const created = await categories.createCategory({ newCategory: { name: 'Ponies' } });
      await categories.getCategory({ categoryId: 4711 }).catch(({ response }: ResponseError) => {
        console.log(page.length, created.name, response.status);
      });`,
  },
  'typescript-axios': {
    needs: 'mvn',
    generate: 'openapi-generator generate -i openapi.json -g typescript-axios -o client',
    program: `import { AnimalsApi, CategoriesApi, Configuration } from './client';
      ${SETTINGS}
      const configuration = new Configuration({ basePath: baseUrl, baseOptions: { headers } });
      const categories = new CategoriesApi(configuration);
      const { data: page } = await new AnimalsApi(configuration).listPets(1);
      const { data: created } = await categories.createCategory({ name: 'Ponies' });
      const { status } = await categories.getCategory(4711, undefined, { validateStatus: () => true });
      console.log(page.length, created.name, status);`,
  },
  'openapi-client-axios': {
    program: `import { OpenAPIClientAxios } from 'openapi-client-axios';
      import definition from './openapi.json';
      ${SETTINGS}
      const settings = { definition: definition as never, axiosConfigDefaults: { baseURL: baseUrl, headers } };
      const api = await new OpenAPIClientAxios(settings).init();
      const { data: page } = await api.listPets!({ limit: 1 });
      const { data: created } = await api.createCategory!(undefined, { name: 'Ponies' });
      const { status } = await api.getCategory!(4711, undefined, { validateStatus: () => true });
      console.log(page.length, created.name, status);`,
  },
};

export const SDK = `import { PetStoreError, createPetStoreClient } from '@petstore/client';
const { BASE = '', KEY = '' } = process.env;
const store = createPetStoreClient({ baseUrl: BASE, apiKey: KEY });
const { data: page } = await store.listPets({ query: { limit: 1 } });
const { data: created } = await store.createCategory({ body: { name: 'Ponies' } });
await store.getCategory({ path: { categoryId: 4711 } }).catch((error) => {
  if (error instanceof PetStoreError) console.log(page.length, created.name, error.status);
});
`;

export const PYTHON = `import os
from client import AuthenticatedClient
from client.api.animals import list_pets
from client.api.categories import create_category, get_category
from client.models import NewCategory

api = AuthenticatedClient(base_url=os.environ['BASE'], token=os.environ['KEY'])
page = list_pets.sync(client=api, limit=1)
created = create_category.sync(client=api, body=NewCategory(name='Ponies'))
missing = get_category.sync(4711, client=api)
print(len(page), created.name, missing.status)
`;

export const GO = {
  'oapi-codegen': {
    module: 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2',
    options: '-generate types,client -package main -o client.go',
    program: `package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
)

func main() {
	withKey := WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("X-API-Key", os.Getenv("KEY"))
		return nil
	})
	api, _ := NewClientWithResponses(os.Getenv("BASE"), withKey)
	limit := int32(1)
	page, _ := api.ListPetsWithResponse(context.Background(), &ListPetsParams{Limit: &limit})
	created, _ := api.CreateCategoryWithResponse(context.Background(), nil, NewCategory{Name: "Ponies"})
	missing, _ := api.GetCategoryWithResponse(context.Background(), 4711, nil)
	fmt.Println(len(*page.JSON200), created.JSON201.Name, missing.JSON404.Status)
}
`,
  },
  ogen: {
    module: 'github.com/ogen-go/ogen/cmd/ogen@v1.24.0',
    options: '--target client --package client',
    program: `package main

import (
	"context"
	"fmt"
	"os"

	"example.org/use/client"
	"github.com/ogen-go/ogen/ogenerrors"
)

type key struct{}

func (key) ApiKey(context.Context, client.OperationName) (client.ApiKey, error) {
	return client.ApiKey{APIKey: os.Getenv("KEY")}, nil
}

func (key) Bearer(context.Context, client.OperationName) (client.Bearer, error) {
	return client.Bearer{}, ogenerrors.ErrSkipClientSecurity
}

func main() {
	ctx := context.Background()
	api, _ := client.NewClient(os.Getenv("BASE"), key{})
	page, _ := api.ListPets(ctx, client.ListPetsParams{Limit: client.NewOptInt32(1)})
	created, _ := api.CreateCategory(ctx, &client.NewCategory{Name: "Ponies"}, client.CreateCategoryParams{})
	missing, _ := api.GetCategory(ctx, client.GetCategoryParams{CategoryId: 4711})
	pets, category := page.(*client.PetsHeaders).Response, created.(*client.CategoryHeaders).Response
	fmt.Println(len(pets), category.Name, missing.(*client.CategoryNotFoundHeaders).Response.Status)
}
`,
  },
};

export const JAVA = `import java.util.List;
import org.openapitools.client.*;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

public class Use {
  public static void main(String[] args) throws ApiException {
    ApiClient api = new ApiClient().setBasePath(System.getenv("BASE"));
    api.setApiKey(System.getenv("KEY"));
    CategoriesApi categories = new CategoriesApi(api);
    List<StoredPet> page = new AnimalsApi(api).listPets(1, null, null, null, null, null, null);
    Category created = categories.createCategory(new NewCategory().name("Ponies"), null);
    try {
      categories.getCategory(4711L, null);
    } catch (ApiException error) {
      System.out.println(page.size() + " " + created.getName() + " " + error.getCode());
    }
  }
}
`;

export const CARGO = `[package]
name = "use"
version = "0.0.0"
edition = "2021"

[dependencies]
chrono = { version = "0.4", features = ["serde"] }
futures = "0.3"
progenitor = "=0.15.1"
regress = "0.11"
reqwest = { version = "0.13", default-features = false, features = ["json", "query", "stream"] }
serde = { version = "1", features = ["derive"] }
tokio = { version = "1", features = ["macros", "rt"] }
`;

export const RUST = `progenitor::generate_api!("openapi.json");

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let key = std::env::var("KEY").unwrap().parse().unwrap();
    let headers = reqwest::header::HeaderMap::from_iter([("x-api-key".parse().unwrap(), key)]);
    let http = reqwest::Client::builder().default_headers(headers).build().unwrap();
    let api = Client::new_with_client(&std::env::var("BASE").unwrap(), http);
    let limit = std::num::NonZeroU32::new(1);
    let page = api.list_pets(None, None, None, limit, None, None, None).await.unwrap();
    let body = types::NewCategory { name: "Ponies".parse().unwrap(), description: None };
    let created = api.create_category(None, &body).await.unwrap();
    let missing = api.get_category(4711.try_into().unwrap(), None).await.unwrap_err();
    println!("{} {} {}", page.len(), *created.name, missing.status().unwrap().as_u16());
}
`;
