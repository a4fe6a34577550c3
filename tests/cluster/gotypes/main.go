// Prints, as JSON, how the API's Go types of the sandbox's kinds read and write JSON.
//
// For each struct: its fields by JSON name, each with its type and its flags: `p` a pointer,
// `o` left out when empty, `z` left out when zero. The sandbox decodes by it, as the server does
// by the types themselves: `go run ./gotypes > ../../sandbox/objects/gotypes.json`.
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	apps "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The kinds that are stored, and those that only travel.
var roots = []any{
	core.Namespace{}, core.Node{}, core.Pod{}, core.ConfigMap{}, core.Secret{}, core.Service{},
	core.ServiceAccount{}, core.PersistentVolumeClaim{}, core.ResourceQuota{}, core.Event{},
	core.Binding{},
	apps.Deployment{}, apps.ReplicaSet{}, apps.StatefulSet{}, apps.DaemonSet{},
	apps.ControllerRevision{},
	batch.Job{}, batch.CronJob{},
	autoscalingv1.Scale{}, autoscaling.HorizontalPodAutoscaler{},
	policy.PodDisruptionBudget{}, policy.Eviction{},
	networking.Ingress{}, networking.NetworkPolicy{},
	coordination.Lease{},
	rbac.Role{}, rbac.RoleBinding{}, rbac.ClusterRole{}, rbac.ClusterRoleBinding{},
	meta.DeleteOptions{},
}

// Types that read and write JSON in their own way; the sandbox knows each by this name.
var special = map[string]string{
	"k8s.io/api/core/v1.ResourceList":                 "ResourceList",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":   "Quantity",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":   "Duration",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":   "FieldsV1",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":  "MicroTime",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":       "Time",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":    "Raw",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString": "IntOrString",
}

type table map[string]map[string][2]string

func main() {
	found := table{}
	for _, root := range roots {
		found.add(reflect.TypeOf(root))
	}
	names := slices.Sorted(maps.Keys(found))
	for index, name := range names {
		fields, err := json.Marshal(found[name])
		if err != nil {
			panic(err)
		}
		before := ",\n"
		if index == 0 {
			before = "{\n"
		}
		fmt.Printf("%s%q: %s", before, name, fields)
	}
	fmt.Println("\n}")
}

// add enters a struct and everything that it leads to.
func (found table) add(of reflect.Type) {
	if _, known := found[structName(of)]; known {
		return
	}
	fields := map[string][2]string{}
	found[structName(of)] = fields
	found.addFields(of, fields)
}

func (found table) addFields(of reflect.Type, fields map[string][2]string) {
	for index := range of.NumField() {
		field := of.Field(index)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if name == "" && field.Anonymous {
			found.addFields(field.Type, fields)
			continue
		}
		fields[name] = [2]string{found.typeName(field.Type), flags(field.Type, options)}
	}
}

func flags(of reflect.Type, options string) string {
	text := ""
	if of.Kind() == reflect.Pointer {
		text += "p"
	}
	for _, option := range strings.Split(options, ",") {
		switch option {
		case "omitempty":
			text += "o"
		case "omitzero":
			text += "z"
		}
	}
	return text
}

// typeName names a type as the table does, and enters the structs that it leads to. A named
// string keeps its name, since the server's messages tell it: `string core/v1.PullPolicy`.
func (found table) typeName(of reflect.Type) string {
	if name, ok := special[of.PkgPath()+"."+of.Name()]; ok {
		return name
	}
	switch of.Kind() {
	case reflect.Pointer:
		return found.typeName(of.Elem())
	case reflect.Slice:
		if of.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + found.typeName(of.Elem())
	case reflect.Map:
		return "{}" + found.typeName(of.Elem())
	case reflect.Struct:
		found.add(of)
		return structName(of)
	default:
		if of.PkgPath() == "" {
			return of.Kind().String()
		}
		return fmt.Sprintf("%s %s", of.Kind(), of.String())
	}
}

// structName is the group, version and name: `apps/v1.Deployment`.
func structName(of reflect.Type) string {
	group, version := path.Base(path.Dir(of.PkgPath())), path.Base(of.PkgPath())
	return fmt.Sprintf("%s/%s.%s", group, version, of.Name())
}
