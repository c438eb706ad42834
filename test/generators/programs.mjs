// What callers write with each generated client: a page, a POST, an error. Each prints `1 Ponies 404`.
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

export const GO = `package main

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
`;
