// Reads manifests of Kubernetes, and prints a line for each mistake by Kubernetes' own types: a field that a type does not
// have, or a value of another type. The types of CloudNativePG are not among them.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

type header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// A new object of the type that a manifest names; nil if it is none of these.
func object(of header) any {
	switch of.APIVersion + " " + of.Kind {
	case "v1 ConfigMap":
		return &core.ConfigMap{}
	case "v1 Service":
		return &core.Service{}
	case "apps/v1 StatefulSet":
		return &apps.StatefulSet{}
	}
	return nil
}

func check(manifest []byte) error {
	var of header
	if err := yaml.Unmarshal(manifest, &of); err != nil {
		return err
	}
	typed := object(of)
	if typed == nil {
		return fmt.Errorf("%s %s is not known here", of.APIVersion, of.Kind)
	}
	if err := yaml.UnmarshalStrict(manifest, typed); err != nil {
		return fmt.Errorf("%s %s: %w", of.APIVersion, of.Kind, err)
	}
	return nil
}

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	for _, manifest := range strings.Split("\n"+string(text), "\n---\n") {
		if err := check([]byte(manifest)); err != nil {
			fmt.Println(err)
		}
	}
}
